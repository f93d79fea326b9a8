import type { NewSandbox } from '@svc/sdk';

/** The form's text as typed. Empty fields use the platform's default. */
export interface SandboxDraft {
  image: string;
  name: string;
  cpu: string;
  memoryMb: string;
  diskMb: string;
  pids: string;
  network: 'default' | 'egress' | 'none';
  /** Hostnames, one per line. */
  egressAllow: string;
  environment: string;
  labels: string;
  /** `NAME:/path`, or with `:ro`, one per line. */
  volumes: string;
  /** `BUCKET:/path` or `BUCKET/prefix:/path`, or with `:ro`, one per line. */
  mounts: string;
  idleSeconds: string;
  lifetimeSeconds: string;
  isolation: 'default' | 'namespaces' | 'gvisor';
  /** Connected cluster; empty for the platform. */
  cluster: string;
}

export const EMPTY_DRAFT: SandboxDraft = {
  image: '',
  name: '',
  cpu: '',
  memoryMb: '',
  diskMb: '',
  pids: '',
  network: 'default',
  egressAllow: '',
  environment: '',
  labels: '',
  volumes: '',
  mounts: '',
  idleSeconds: '',
  lifetimeSeconds: '',
  isolation: 'default',
  cluster: '',
};

export type DraftFaults = Partial<Record<keyof SandboxDraft, string>>;

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const LABEL_KEY = /^[A-Za-z0-9][A-Za-z0-9_./-]{0,62}$/;
const VOLUME = /^([A-Za-z0-9][A-Za-z0-9_-]{0,63}):(\/[^:]+?)(:ro)?$/;
const MOUNT = /^([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([^:]+))?:(\/[^:]+?)(:ro)?$/;
const HOST = /^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;

export function validateDraft(draft: SandboxDraft): DraftFaults {
  const faults: DraftFaults = {};
  const addFault = (field: keyof SandboxDraft, fault: string | null): void => {
    if (fault !== null) faults[field] = fault;
  };
  if (draft.name !== '' && !NAME.test(draft.name))
    addFault('name', 'Use up to 64 letters, digits, hyphens and underscores.');
  for (const field of ['cpu', 'memoryMb', 'diskMb', 'pids'] as const) addFault(field, amountFault(draft[field]));
  addFault('environment', parsePairs(draft.environment, ENVIRONMENT_NAME).fault);
  addFault('labels', parsePairs(draft.labels, LABEL_KEY).fault);
  const volume = parseLines(draft.volumes).find((line) => !VOLUME.test(line));
  if (volume !== undefined) addFault('volumes', `${volume} is not a volume and its path. Use name:/path.`);
  const mount = parseLines(draft.mounts).find((line) => !MOUNT.test(line));
  if (mount !== undefined) addFault('mounts', `${mount} is not a bucket and its path. Use bucket:/path.`);
  const wrong = parseLines(draft.egressAllow).find((host) => !HOST.test(host));
  if (wrong !== undefined) addFault('egressAllow', `${wrong} is not a valid hostname.`);
  return faults;
}

/** Converts a valid draft. Omits empty fields. */
export function toNewSandbox(draft: SandboxDraft): NewSandbox & { egress_allow?: string[] } {
  const environment = parsePairs(draft.environment, ENVIRONMENT_NAME).pairs;
  const labels = parsePairs(draft.labels, LABEL_KEY).pairs;
  const hosts = parseLines(draft.egressAllow);
  const resources = {
    ...(draft.cpu !== '' && { cpu: Number(draft.cpu) }),
    ...(draft.memoryMb !== '' && { memory_mb: Number(draft.memoryMb) }),
    ...(draft.diskMb !== '' && { disk_mb: Number(draft.diskMb) }),
    ...(draft.pids !== '' && { pids: Number(draft.pids) }),
  };
  const volumes = parseLines(draft.volumes).flatMap((line) => {
    const [, name, path, readOnly] = VOLUME.exec(line) ?? [];
    return name === undefined || path === undefined ? [] : [{ name, path, read_only: readOnly !== undefined }];
  });
  const mounts = parseLines(draft.mounts).flatMap((line) => {
    const [, bucket, prefix, path, readOnly] = MOUNT.exec(line) ?? [];
    if (bucket === undefined || path === undefined) return [];
    return [{ bucket, ...(prefix !== undefined && { prefix }), path, read_only: readOnly !== undefined }];
  });
  return {
    image: draft.image,
    ...(draft.name !== '' && { name: draft.name }),
    ...(Object.keys(resources).length > 0 && { resources }),
    ...(draft.network !== 'default' && { network: draft.network }),
    ...(draft.network === 'egress' && hosts.length > 0 && { egress_allow: hosts }),
    ...(draft.cluster !== '' && { cluster: draft.cluster }),
    ...(draft.isolation !== 'default' && { isolation: draft.isolation }),
    ...(Object.keys(environment).length > 0 && { environment }),
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(volumes.length > 0 && { volumes }),
    ...(mounts.length > 0 && { mounts }),
    ...(draft.idleSeconds !== '' && { idle_timeout_seconds: Number(draft.idleSeconds) }),
    ...(draft.lifetimeSeconds !== '' && { max_lifetime_seconds: Number(draft.lifetimeSeconds) }),
  };
}

function amountFault(text: string): string | null {
  if (text === '') return null;
  const value = Number(text);
  return Number.isFinite(value) && value > 0 ? null : 'Enter a number above 0.';
}

function parseLines(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

interface Pairs {
  pairs: Record<string, string>;
  /** Error of the first invalid line; null if all are valid. */
  fault: string | null;
}

/** Parses `KEY=value` lines, as in `.env` files; `#` begins a comment. Strips quotes around values. */
function parsePairs(text: string, key: RegExp): Pairs {
  const pairs: Record<string, string> = {};
  let fault: string | null = null;
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const equals = line.indexOf('=');
    const name = (equals === -1 ? line : line.slice(0, equals)).trim().replace(/^export\s+/, '');
    if (equals === -1) fault ??= `${name} has no value. Use KEY=value.`;
    else if (!key.test(name)) fault ??= `${name === '' ? 'An empty name' : name} is not a valid name.`;
    else pairs[name] = unquoted(line.slice(equals + 1).trim());
  }
  return { pairs, fault };
}

function unquoted(value: string): string {
  const quote = value.at(0);
  const isQuoted = value.length >= 2 && (quote === '"' || quote === "'") && value.at(-1) === quote;
  return isQuoted ? value.slice(1, -1) : value;
}
