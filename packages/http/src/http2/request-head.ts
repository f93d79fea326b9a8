import { METHODS, type IncomingHttpHeaders as Http1Headers } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http2';
import { httpErrors } from '../errors.ts';
import type { RequestHead } from './http2-request.ts';

/** Those that the parser of HTTP/1 accepts, without tunnels through the platform. */
const ACCEPTED: ReadonlySet<string> = new Set(METHODS.filter((method) => method !== 'CONNECT'));

/**
 * Writes the head of an HTTP/2 request as HTTP/1 would (RFC 9113, section 8.3.1, and RFC 9112): `Host` for
 * `:authority`, `Transfer-Encoding` for a body without a length, one `Cookie`. Throws INVALID_REQUEST for an
 * unknown method, no host, or two, and for what HTTP/1 could not name: another scheme, or a path that is none.
 */
export function toHttp1Head(
  given: IncomingHttpHeaders,
  raw: readonly string[],
  { hasBody }: { hasBody: boolean },
): RequestHead {
  const method = given[':method'] ?? '';
  if (!ACCEPTED.has(method)) throw invalid('method', 'it is unknown');
  const scheme = given[':scheme'] ?? '';
  if (scheme !== 'https' && scheme !== 'http') throw invalid('scheme', 'it must be https or http');
  const url = given[':path'] ?? '';
  if (!url.startsWith('/') && !(url === '*' && method === 'OPTIONS')) throw invalid('path', 'it must begin with /');
  const host = hostOf(given);
  const isUnmeasured = hasBody && given['content-length'] === undefined;
  const headers: Http1Headers = { host };
  const rawHeaders = ['host', host];
  for (const [name, value] of Object.entries(given)) {
    if (!name.startsWith(':') && name !== 'host') headers[name] = value;
  }
  let hasCookie = false;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? '';
    if (name.startsWith(':') || name === 'host') continue;
    if (name !== 'cookie') rawHeaders.push(name, raw[index + 1] ?? '');
    else if (!hasCookie) rawHeaders.push(name, given.cookie ?? '');
    hasCookie ||= name === 'cookie';
  }
  if (isUnmeasured) {
    headers['transfer-encoding'] = 'chunked';
    rawHeaders.push('transfer-encoding', 'chunked');
  }
  return { method, url, headers, rawHeaders };
}

/** Different values could reach different places behind the platform. */
function hostOf({ ':authority': authority, host }: IncomingHttpHeaders): string {
  const named = authority ?? host;
  if (named !== undefined && named !== '' && (host === undefined || host === named)) return named;
  throw invalid('host', named === undefined || named === '' ? 'it is missing' : 'it differs from :authority');
}

function invalid(field: string, reason: string): Error {
  return httpErrors.INVALID_REQUEST({ details: { field, reason } });
}
