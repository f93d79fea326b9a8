import { sandboxErrors } from '../errors.ts';

/** What the address of a terminal asks for. */
export interface TerminalRequest {
  readonly sandboxId: string;
  readonly cols: number;
  readonly rows: number;
  /** A command to run with pipes instead of a login shell on a terminal. */
  readonly argv: readonly string[] | null;
  readonly encoding: 'text' | 'binary';
  readonly ticket: string | null;
  readonly workspaceUuid: string | undefined;
  readonly teamUuid: string | undefined;
}

const PATH = /^\/ws\/terminal\/([^/]+)$/;
const MAX_COMMAND_CHARACTERS = 16_384;
const MAX_EXTENT = 1000;

export function isTerminalPath(pathname: string): boolean {
  return PATH.test(pathname);
}

/** Throws INVALID_FIELD with the name of the parameter. */
export function parseTerminalRequest(url: URL): TerminalRequest {
  const { searchParams: query } = url;
  const encoding = query.get('encoding') ?? 'text';
  if (encoding !== 'text' && encoding !== 'binary') throw invalid('encoding', 'is neither text nor binary');
  const command = query.get('cmd');
  return {
    sandboxId: PATH.exec(url.pathname)?.[1] ?? '',
    cols: extent(query.get('cols'), 80, 'cols'),
    rows: extent(query.get('rows'), 24, 'rows'),
    argv: command === null ? null : parseCommand(command),
    encoding,
    ticket: query.get('ticket'),
    workspaceUuid: query.get('workspace_uuid') ?? undefined,
    teamUuid: query.get('team_uuid') ?? undefined,
  };
}

/** Zero and absence mean the usual size (hidden windows report zero); what is too large is cut. */
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
    throw invalid('cmd', 'is not a JSON array of strings with at least one');
  }
  return value;
}

function invalid(field: string, reason: string): Error {
  return sandboxErrors.INVALID_FIELD({ details: { field, reason } });
}
