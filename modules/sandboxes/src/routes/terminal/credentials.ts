import type { IncomingHttpHeaders } from 'node:http';

const BEARER_PREFIX = 'bearer.';
/** `rexec.token.TOKEN` beside `rexec.v1`: sent by existing clients of this API, with the plain token. */
const TOKEN_SUBPROTOCOL = /^[a-z\d]+\.token\.(?<token>.+)$/;

/** Subprotocols offered by the client, in its order. */
export function offeredProtocols(headers: IncomingHttpHeaders): string[] {
  return (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/**
 * Returns the headers to authenticate with. Browsers cannot set headers on a WebSocket, so the token may be a
 * subprotocol: `bearer.` followed by its base64url, or the plain token after `NAME.token.`.
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
 * Prevents pages of other sites from using a visitor's cookies. Programs send no Origin, or set the Authorization
 * header, which pages cannot. Over TLS, a page that was loaded without TLS counts as another site, because it can be
 * forged.
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
 * Selects the subprotocol to accept: ours if offered; otherwise the first that is not a token, because browsers require
 * one of those they offered; a token only if there is nothing else.
 */
export function selectProtocol(offered: readonly string[], known: readonly string[]): string | null {
  const ours = known.find((name) => offered.includes(name));
  return ours ?? offered.find((name) => tokenIn(name) === null) ?? offered[0] ?? null;
}
