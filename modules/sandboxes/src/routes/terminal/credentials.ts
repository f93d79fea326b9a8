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
 * subprotocol: `bearer.` followed by its base64url, which is known everywhere, or the plain token after `NAME.token.`.
 */
export function credentialHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  if (headers.authorization !== undefined) return headers;
  const token = offeredProtocols(headers)
    .map((name) => TOKEN_SUBPROTOCOL.exec(name)?.groups?.['token'])
    .find((found) => found !== undefined);
  return token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` };
}

/**
 * Selects the subprotocol to accept: ours if offered; otherwise the first that is not a token, because browsers require
 * one of those they offered; a token only if there is nothing else.
 */
export function selectProtocol(offered: readonly string[], known: readonly string[]): string | null {
  const ours = known.find((name) => offered.includes(name));
  return ours ?? offered.find((name) => !isToken(name)) ?? offered[0] ?? null;
}

function isToken(name: string): boolean {
  return name.startsWith(BEARER_PREFIX) || TOKEN_SUBPROTOCOL.test(name);
}
