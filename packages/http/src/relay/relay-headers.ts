import type { IncomingMessage } from 'node:http';
import { httpErrors } from '../errors.ts';

/** Raw headers: name, value, name, value. Preserves repeated names and case. */
export type HeaderList = string[];

/** Hop-by-hop headers (RFC 9110, section 7.6.1, plus those of older peers). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Returns true for headers to drop. The name is in lower case. */
export type DropRule = (lowerName: string) => boolean;
const NOTHING_DROPPED: DropRule = () => false;

/** Returns a message's headers without hop-by-hop ones and without those that `drop` matches (lower case). */
export function endToEndHeaders(message: IncomingMessage, drop = NOTHING_DROPPED): HeaderList {
  return keptHeaders(message.rawHeaders, message.headers.connection ?? '', drop);
}

/** Same as `endToEndHeaders`, for raw headers; `connection` is the value of that header. */
export function keptHeaders(headers: readonly string[], connection: string, drop = NOTHING_DROPPED): HeaderList {
  const named = connectionOptions(connection);
  const kept: HeaderList = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? '';
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || named.has(lower) || drop(lower)) continue;
    kept.push(name, headers[index + 1] ?? '');
  }
  return kept;
}

/**
 * Returns the members of a header with a list (RFC 9110, section 5.6.1). Without a pattern: one for commas with spaces around
 * them takes quadratic time for a long run of spaces.
 */
export function listMembers(value: string): string[] {
  return value.split(',').map((member) => member.trim());
}

const NO_OPTIONS: ReadonlySet<string> = new Set();

/**
 * Returns the names that a `Connection` header lists, in lower case, except framing and routing headers, which must not be
 * dropped: without its length, a body would be read as the next request.
 */
export function connectionOptions(connection: string): ReadonlySet<string> {
  if (connection === '' || connection === 'keep-alive') return NO_OPTIONS;
  const names = listMembers(connection.toLowerCase());
  return new Set(names.filter((name) => name !== 'content-length' && name !== 'host'));
}

/** Whether a request announces a body: it is chunked, or its `Content-Length` is above 0 (RFC 9112, section 6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** These methods need no length without a body; for any other, `node:http` would add "chunked". */
const NEEDS_NO_LENGTH: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/** Returns the framing headers for the next connection, unchanged. Throws 400 if the framing cannot be preserved. */
export function framingHeaders(request: IncomingMessage): HeaderList {
  const framing: HeaderList = [];
  const coding = request.headers['transfer-encoding'];
  if (/\btrailers\b/i.test(String(request.headers['te'] ?? ''))) framing.push('TE', 'trailers');
  if (coding !== undefined) {
    // Only `chunked` is decoded here; another coding would lose the header that declares it.
    if (coding.toLowerCase() !== 'chunked') {
      throw httpErrors.INVALID_REQUEST({ details: { field: 'Transfer-Encoding', reason: 'it must be chunked' } });
    }
    framing.push('Transfer-Encoding', 'chunked');
  } else if (request.headers['content-length'] === undefined && !NEEDS_NO_LENGTH.has(request.method ?? '')) {
    framing.push('Content-Length', '0');
  }
  return framing;
}

/** Never allowed as trailers: routing and framing (RFC 9110, section 6.5.1). */
const NO_TRAILERS: ReadonlySet<string> = new Set(['host', 'content-length', 'trailer']);

/** Returns a message's trailers as pairs, without those that `drop` matches. */
export function endToEndTrailers(
  { rawTrailers }: { readonly rawTrailers: readonly string[] },
  drop = NOTHING_DROPPED,
): [string, string][] {
  const kept = keptHeaders(rawTrailers, '', (name) => NO_TRAILERS.has(name) || drop(name));
  return Array.from({ length: kept.length / 2 }, (_, index) => [kept[2 * index] ?? '', kept[2 * index + 1] ?? '']);
}
