import type { IncomingMessage } from 'node:http';

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

type DropRule = (lowerName: string) => boolean;
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

/** What says how the request's body is framed on the next connection: just as it came. */
export function framingHeaders(request: IncomingMessage): HeaderList {
  const framing: HeaderList = [];
  if (/\btrailers\b/i.test(String(request.headers['te'] ?? ''))) framing.push('TE', 'trailers');
  if (request.headers['transfer-encoding'] !== undefined) framing.push('Transfer-Encoding', 'chunked');
  else if (request.headers['content-length'] === undefined && /^(POST|PUT|PATCH)$/.test(request.method ?? '')) {
    framing.push('Content-Length', '0');
  }
  return framing;
}
