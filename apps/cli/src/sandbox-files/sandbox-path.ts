/** `NAME:/path`, as in scp. */
export interface SandboxPath {
  sandbox: string;
  /** Absolute, or relative to the home directory. */
  path: string;
}

const LOCATION = /^([A-Za-z0-9][A-Za-z0-9_-]{0,63}):(.*)$/s;
/** `C:\file` and `C:/file` are Windows files, not a sandbox with a one-letter name. */
const DRIVE = /^[A-Za-z]:[\\/]/;

/** Returns null for a local path. `./a:b` is always local. */
export function parseSandboxPath(text: string): SandboxPath | null {
  if (DRIVE.test(text) && process.platform === 'win32') return null;
  const [, sandbox, path] = LOCATION.exec(text) ?? [];
  if (sandbox === undefined || path === undefined) return null;
  return { sandbox, path: path === '' ? '.' : path };
}
