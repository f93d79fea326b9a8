/** Run settings of an image. Sandboxes use the environment and the working folder. */
export interface ImageSettings {
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute; null for root's home directory. */
  readonly workingFolder: string | null;
  readonly user: string | null;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
}

/** What processes get if their image sets no `PATH`. */
export const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export const NO_SETTINGS: ImageSettings = {
  environment: {},
  workingFolder: null,
  user: null,
  entrypoint: [],
  command: [],
};

const MAX_VARIABLES = 256;
const MAX_TEXT_CHARACTERS = 32_768;

/** Reads the `config` of an image configuration (OCI image-spec); ignores invalid fields. */
export function readSettings(config: unknown): ImageSettings {
  // Checked below.
  const fields = typeof config === 'object' && config !== null ? (config as Record<string, unknown>) : {};
  const environment: Record<string, string> = {};
  for (const entry of texts(fields['Env']).slice(0, MAX_VARIABLES)) {
    const at = entry.indexOf('=');
    if (at > 0 && !entry.includes('\0')) environment[entry.slice(0, at)] = entry.slice(at + 1);
  }
  const folder = text(fields['WorkingDir']);
  return {
    environment,
    workingFolder: folder?.startsWith('/') === true && !folder.includes('\0') ? folder : null,
    user: text(fields['User']),
    entrypoint: texts(fields['Entrypoint']),
    command: texts(fields['Cmd']),
  };
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_CHARACTERS ? value : null;
}

function texts(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item): item is string => text(item) !== null);
}
