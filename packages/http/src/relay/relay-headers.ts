import type { IncomingMessage } from 'node:http';
import { httpErrors } from '../errors.ts';

/** Headers as they travel: name, value, name, value. Repeated names and their case survive. */
export type HeaderList = string[];

/** About one connection only (RFC 9110, section 7.6.1, and what older peers send). */
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

export type DropRule = (lowerName: string) => boolean;
const NOTHING_DROPPED: DropRule = () => false;

/** The headers of a message without those of its connection, and without those that `drop` takes (lower case). */
export function endToEndHeaders(message: IncomingMessage, drop = NOTHING_DROPPED): HeaderList {
  return keptHeaders(message.rawHeaders, message.headers.connection ?? '', drop);
}

/** The same of headers as they travelled; `connection` is the value of that header. */
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

const NO_OPTIONS: ReadonlySet<string> = new Set();

/** Names in `Connection`, except those that say how the message is framed or where it goes: nobody may drop those. */
function connectionOptions(connection: string): ReadonlySet<string> {
  if (connection === '' || connection === 'keep-alive') return NO_OPTIONS;
  const names = connection.toLowerCase().split(/\s*,\s*/);
  return new Set(names.filter((name) => name !== 'content-length' && name !== 'host'));
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Without a body these need no word of it; `node:http` says "chunked" for any other method that gives no length. */
const NEEDS_NO_LENGTH: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/** What says how the request's body is framed on the next connection: just as it came. Throws 400 where that cannot be. */
export function framingHeaders(request: IncomingMessage): HeaderList {
  const framing: HeaderList = [];
  const coding = request.headers['transfer-encoding'];
  if (/\btrailers\b/i.test(String(request.headers['te'] ?? ''))) framing.push('TE', 'trailers');
  if (coding !== undefined) {
    // Only this one is decoded here: a body in another one would arrive without the word that says so.
    if (coding.toLowerCase() !== 'chunked') {
      throw httpErrors.INVALID_REQUEST({ details: { field: 'Transfer-Encoding', reason: 'it must be chunked' } });
    }
    framing.push('Transfer-Encoding', 'chunked');
  } else if (request.headers['content-length'] === undefined && !NEEDS_NO_LENGTH.has(request.method ?? '')) {
    framing.push('Content-Length', '0');
  }
  return framing;
}

/** What may never come after a body: where it goes and how long it is (RFC 9110, section 6.5.1). */
const NO_TRAILERS: ReadonlySet<string> = new Set(['host', 'content-length', 'trailer']);

/** Trailers of a request as pairs, without those that `drop` takes. */
export function endToEndTrailers({ rawTrailers }: IncomingMessage, drop = NOTHING_DROPPED): [string, string][] {
  const kept = keptHeaders(rawTrailers, '', (name) => NO_TRAILERS.has(name) || drop(name));
  return Array.from({ length: kept.length / 2 }, (_, index) => [kept[2 * index] ?? '', kept[2 * index + 1] ?? '']);
}
