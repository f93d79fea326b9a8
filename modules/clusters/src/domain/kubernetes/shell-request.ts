import { clusterErrors } from '../../errors.ts';

/** Parameters of a shell URL. */
export interface ShellRequest {
  cluster: string;
  namespace: string;
  pod: string;
  /** Null: the pod's default container. */
  container: string | null;
  command: readonly string[];
  tty: boolean;
  /** The client acknowledges the output it has rendered and receives at most one window beyond that. */
  ack: boolean;
  cols: number;
  rows: number;
  workspaceUuid: string | undefined;
  teamUuid: string | undefined;
}

const PATH = /^\/v1\/clusters\/([^/;]{1,128})\/shell$/;
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const POD = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const MAX_COMMAND_WORDS = 64;
const MAX_COMMAND_CHARACTERS = 8192;
const MAX_EXTENT = 1000;
/** The best shell in the container. A login shell would read files that many images lack. */
const SHELL = [
  '/bin/sh',
  '-c',
  'TERM=${TERM:-xterm-256color}; export TERM; [ -x /bin/bash ] && exec /bin/bash; exec /bin/sh',
];

export function isShellPath(pathname: string): boolean {
  return PATH.test(pathname);
}

/** Throws `INVALID_REQUEST` with the name of the parameter. */
export function parseShellRequest({ pathname, searchParams: query }: URL): ShellRequest {
  const container = query.get('container');
  if (container !== null && !NAMESPACE.test(container)) throw invalid('container', 'is not a container name');
  return {
    cluster: parseCluster(pathname),
    namespace: named(query, 'namespace', NAMESPACE),
    pod: named(query, 'pod', POD),
    container,
    command: parseCommand(query.getAll('command')),
    tty: parseFlag(query, 'tty', true),
    ack: parseFlag(query, 'ack', false),
    cols: extent(query, 'cols', 80),
    rows: extent(query, 'rows', 24),
    workspaceUuid: query.get('workspace_uuid') ?? undefined,
    teamUuid: query.get('team_uuid') ?? undefined,
  };
}

function parseCluster(pathname: string): string {
  const encoded = PATH.exec(pathname)?.[1] ?? '';
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw invalid('cluster', 'is not a cluster name');
  }
}

function named(query: URLSearchParams, field: string, pattern: RegExp): string {
  const value = query.get(field) ?? '';
  if (pattern.test(value)) return value;
  throw invalid(field, value === '' ? 'is missing' : `is not a valid ${field} name`);
}

function parseCommand(words: readonly string[]): readonly string[] {
  if (words.length === 0) return SHELL;
  const isTooLong = words.length > MAX_COMMAND_WORDS || words.join('').length > MAX_COMMAND_CHARACTERS;
  if (isTooLong || words[0] === '') {
    throw invalid(
      'command',
      `must have 1 to ${MAX_COMMAND_WORDS} words with at most ${MAX_COMMAND_CHARACTERS} characters in total`,
    );
  }
  return words;
}

function parseFlag(query: URLSearchParams, field: string, usual: boolean): boolean {
  const text = query.get(field) ?? String(usual);
  if (text === 'true' || text === 'false') return text === 'true';
  throw invalid(field, 'is neither true nor false');
}

/** Zero or absent means the default size (hidden windows report zero); larger values are clamped. */
function extent(query: URLSearchParams, field: string, usual: number): number {
  const value = Number(query.get(field) ?? '0');
  if (!Number.isInteger(value) || value < 0) throw invalid(field, 'is not a number of character cells');
  return value === 0 ? usual : Math.min(value, MAX_EXTENT);
}

function invalid(field: string, reason: string): Error {
  return clusterErrors.INVALID_REQUEST({ details: { field, reason: `${field} ${reason}` } });
}
