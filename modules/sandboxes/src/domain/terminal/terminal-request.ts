import { sandboxErrors } from '../../errors.ts';

/** The parameters of a terminal URL. */
export interface TerminalRequest {
  readonly sandboxId: string;
  readonly cols: number;
  readonly rows: number;
  /** A command to run with pipes, instead of a login shell on a terminal. */
  readonly argv: readonly string[] | null;
  /** The user of the command, by name or number; null for root. */
  readonly user: string | null;
  readonly encoding: 'text' | 'binary';
  /** A shell that outlives this client; null for one that ends with it. */
  readonly session: SessionWish | null;
  /** The client acknowledges what it has displayed and receives at most a window beyond it. */
  readonly acknowledges: boolean;
  readonly ticket: string | null;
  readonly workspaceUuid: string | undefined;
  readonly teamUuid: string | undefined;
}

export interface SessionWish {
  /** Null for a new session with a generated name. */
  readonly name: string | null;
  /** Offset to resend output from; null for all that is kept. */
  readonly since: number | null;
  /** Whether a late client receives the screen, or only the kept output. */
  readonly replay: 'screen' | 'output';
  readonly readOnly: boolean;
  /** Disconnects other clients of the session. */
  readonly takeover: boolean;
  /** Lifetime without a client; null for the helper's default. */
  readonly lingerMs: number | null;
  /** Chosen by the client for this connection; null if it never resumes it. */
  readonly connection: string | null;
  /** The connection of the client that broke, whose input this one continues. */
  readonly resumes: string | null;
}

const PATH = /^\/ws\/terminal\/([^/]+)$/;
const MAX_COMMAND_CHARACTERS = 16_384;
const MAX_EXTENT = 1000;
const MAX_USER_CHARACTERS = 64;
const SESSION_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
/** Random, so that no other client has it. */
const CONNECTION_NAME = /^[A-Za-z0-9_-]{16,64}$/;
const NEW_SESSION = 'new';
const SESSION_FIELDS = ['since', 'replay', 'mode', 'takeover', 'linger', 'connection', 'resumes'] as const;
const MAX_LINGER_SECONDS = 86_400;

export function isTerminalPath(pathname: string): boolean {
  return PATH.test(pathname);
}

/** Throws INVALID_FIELD with the name of the parameter. */
export function parseTerminalRequest(url: URL): TerminalRequest {
  const { searchParams: query } = url;
  const encoding = query.get('encoding') ?? 'text';
  if (encoding !== 'text' && encoding !== 'binary') throw invalid('encoding', 'is neither text nor binary');
  const command = query.get('cmd');
  const session = parseSession(query);
  if (session !== null && command !== null) throw invalid('session', 'is for shells, not for a command');
  return {
    sandboxId: PATH.exec(url.pathname)?.[1] ?? '',
    cols: extent(query.get('cols'), 80, 'cols'),
    rows: extent(query.get('rows'), 24, 'rows'),
    argv: command === null ? null : parseCommand(command),
    user: parseUser(query.get('user'), command),
    encoding,
    session,
    acknowledges: flag(query, 'ack'),
    ticket: query.get('ticket'),
    workspaceUuid: query.get('workspace_uuid') ?? undefined,
    teamUuid: query.get('team_uuid') ?? undefined,
  };
}

function parseUser(user: string | null, command: string | null): string | null {
  if (user === null) return null;
  if (command === null) throw invalid('user', 'requires a command (cmd)');
  if (user.length > MAX_USER_CHARACTERS) throw invalid('user', `has more than ${MAX_USER_CHARACTERS} characters`);
  return ['root', '0', ''].includes(user) ? null : user;
}

function parseSession(query: URLSearchParams): SessionWish | null {
  const name = query.get('session');
  if (name === null) {
    const alone = SESSION_FIELDS.find((field) => query.has(field));
    if (alone === undefined) return null;
    throw invalid(alone, 'needs a session');
  }
  if (!SESSION_NAME.test(name)) throw invalid('session', 'must be 1 to 64 letters, digits, _, . and -');
  const mode = query.get('mode') ?? 'rw';
  if (mode !== 'rw' && mode !== 'ro') throw invalid('mode', 'is neither rw nor ro');
  const replay = query.get('replay') ?? 'screen';
  if (replay !== 'screen' && replay !== 'output') throw invalid('replay', 'is neither screen nor output');
  const linger = integer(query, 'linger', MAX_LINGER_SECONDS);
  return {
    name: name === NEW_SESSION ? null : name,
    since: integer(query, 'since', Number.MAX_SAFE_INTEGER),
    replay,
    readOnly: mode === 'ro',
    takeover: flag(query, 'takeover'),
    lingerMs: linger === null ? null : Math.max(1, linger) * 1000,
    connection: connectionName(query, 'connection'),
    resumes: connectionName(query, 'resumes'),
  };
}

function connectionName(query: URLSearchParams, field: string): string | null {
  const name = query.get(field);
  if (name !== null && !CONNECTION_NAME.test(name)) throw invalid(field, 'has 16 to 64 letters, digits, _ and -');
  return name;
}

function integer(query: URLSearchParams, field: string, most: number): number | null {
  const text = query.get(field);
  if (text === null) return null;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > most) throw invalid(field, `is not a number from 0 to ${most}`);
  return value;
}

function flag(query: URLSearchParams, field: string): boolean {
  const text = query.get(field) ?? '0';
  if (!['0', '1', 'false', 'true'].includes(text)) throw invalid(field, 'is neither true nor false');
  return text === '1' || text === 'true';
}

/** Zero or absent means the default size (hidden windows report zero); larger values are capped. */
function extent(text: string | null, usual: number, field: string): number {
  if (text === null || text === '') return usual;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw invalid(field, 'is not a number of character cells');
  return value === 0 ? usual : Math.min(value, MAX_EXTENT);
}

/** base64url of a JSON array of strings. */
function parseCommand(text: string): string[] {
  if (text.length > MAX_COMMAND_CHARACTERS) throw invalid('cmd', 'is too long');
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    throw invalid('cmd', 'is not the base64url of a JSON array');
  }
  if (!Array.isArray(value) || value.length === 0 || !value.every((item) => typeof item === 'string')) {
    throw invalid('cmd', 'must be a JSON array of at least one string');
  }
  if (value.some((item) => item.includes('\0'))) throw invalid('cmd', 'must not contain NUL');
  return value;
}

function invalid(field: string, reason: string): Error {
  return sandboxErrors.INVALID_FIELD({ details: { field, reason } });
}
