import type { IncomingHttpHeaders } from 'node:http';

const BEARER_PREFIX = 'bearer.';

/**
 * The headers to authenticate by. Browsers can set no header on a WebSocket: theirs is the session's cookie, or a token
 * among the subprotocols as `bearer.` and its base64url.
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
 * A page of another site must not use the cookie of whoever looks at it. Programs send no Origin, or the header
 * Authorization, which no page can set on a WebSocket. Over TLS a page that came without it is another site: it may be
 * anybody's.
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
