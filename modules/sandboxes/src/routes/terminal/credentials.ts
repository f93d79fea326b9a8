import type { IncomingHttpHeaders } from 'node:http';

const BEARER_PREFIX = 'bearer.';
/** `rexec.token.TOKEN` beside `rexec.v1`: what clients that speak this API already send, with the token as it is. */
const TOKEN_SUBPROTOCOL = /^[a-z\d]+\.token\.(?<token>.+)$/;

/** The subprotocols that a client offers, in its order. */
export function offeredProtocols(headers: IncomingHttpHeaders): string[] {
  return (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/**
 * The headers to authenticate by. Browsers can set no header on a WebSocket, so a token may stand among the subprotocols as
 * `bearer.` and the base64url of the token, or as it is behind `NAME.token.`.
 */
export function credentialHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  if (headers.authorization !== undefined) return headers;
  const token = offeredProtocols(headers)
    .map(tokenIn)
    .find((found) => found !== null);
  return token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` };
}

function tokenIn(name: string): string | null {
  if (name.startsWith(BEARER_PREFIX))
    return Buffer.from(name.slice(BEARER_PREFIX.length), 'base64url').toString('utf8');
  return TOKEN_SUBPROTOCOL.exec(name)?.groups?.['token'] ?? null;
}

/**
 * A page of another site must not use the cookies of whoever looks at it. Programs send no Origin or set the header
 * Authorization, which no page can. Over TLS a page that came without it is another site: it may be anybody's.
 */
export function isAllowedOrigin(headers: IncomingHttpHeaders, allowed: readonly string[], isSecure: boolean): boolean {
  const { origin, authorization, host } = headers;
  if (origin === undefined || authorization !== undefined) return true;
  if (allowed.includes(origin)) return true;
  const url = URL.parse(origin);
  if (url === null || url.host !== host) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && !isSecure);
}

/**
 * The one to answer with: ours if offered; else the first that is no token, since browsers insist on one of those they
 * offered; a token only where there is nothing else.
 */
export function selectProtocol(offered: readonly string[], known: readonly string[]): string | null {
  const ours = known.find((name) => offered.includes(name));
  return ours ?? offered.find((name) => tokenIn(name) === null) ?? offered[0] ?? null;
}
