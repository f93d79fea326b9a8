import type { IncomingHttpHeaders } from 'node:http';

const BEARER_PREFIX = 'bearer.';

/**
 * Returns the headers to authenticate with. Browsers cannot set headers on a WebSocket: they send the session cookie,
 * or a token among the subprotocols as `bearer.` and its base64url.
 */
export function credentialHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  if (headers.authorization !== undefined) return headers;
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const bearer = offered.find((name) => name.startsWith(BEARER_PREFIX));
  if (bearer === undefined) return headers;
  const token = Buffer.from(bearer.slice(BEARER_PREFIX.length), 'base64url').toString('utf8');
  return { ...headers, authorization: `Bearer ${token}` };
}

/**
 * Prevents a page of another site from using the visitor's cookie. Programs send no Origin, or the Authorization
 * header, which a page cannot set on a WebSocket. A page served without TLS is another site to a request over TLS,
 * because its content can be forged.
 */
export function isOwnOrigin(
  { origin, authorization, host }: IncomingHttpHeaders,
  publicUrl: string,
  isSecure: boolean,
): boolean {
  if (origin === undefined || authorization !== undefined) return true;
  const url = URL.parse(origin);
  if (url === null) return false;
  if (url.origin === URL.parse(publicUrl)?.origin) return true;
  return url.host === host && (url.protocol === 'https:' || (url.protocol === 'http:' && !isSecure));
}
