import type { IncomingHttpHeaders } from 'node:http';

const BEARER_PREFIX = 'bearer.';

/** The subprotocols that a client offers, in its order. */
export function offeredProtocols(headers: IncomingHttpHeaders): string[] {
  return (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/**
 * The headers to authenticate by. Browsers can set no header on a WebSocket, so a token may stand among the subprotocols as
 * `bearer.` and the base64url of the token.
 */
export function credentialHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  if (headers.authorization !== undefined) return headers;
  const offered = offeredProtocols(headers).find((name) => name.startsWith(BEARER_PREFIX));
  if (offered === undefined) return headers;
  const token = Buffer.from(offered.slice(BEARER_PREFIX.length), 'base64url').toString('utf8');
  return { ...headers, authorization: `Bearer ${token}` };
}

/**
 * A page of another site must not use the cookies of whoever looks at it. Programs send no Origin or set the header
 * Authorization, which no page can.
 */
export function isAllowedOrigin(headers: IncomingHttpHeaders, allowed: readonly string[]): boolean {
  const { origin, authorization, host } = headers;
  if (origin === undefined || authorization !== undefined) return true;
  if (allowed.includes(origin)) return true;
  const url = URL.parse(origin);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.host === host;
}

/** The one to answer with: ours if offered; else the first, since browsers insist on one of those they offered. */
export function selectProtocol(offered: readonly string[], known: readonly string[]): string | null {
  return known.find((name) => offered.includes(name)) ?? offered[0] ?? null;
}
