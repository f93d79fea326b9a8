import type { IncomingHttpHeaders } from 'node:http';

const BEARER = /^bearer\.([A-Za-z0-9_-]+)$/;

/**
 * The token in the subprotocol `bearer.<base64url token>` of a WebSocket, since browsers cannot set headers there.
 * Undefined if none is offered; what it encodes need not be a token.
 */
export function subprotocolToken(headers: IncomingHttpHeaders): string | undefined {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return undefined;
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim());
  const encoded = offered.map((each) => BEARER.exec(each)?.[1]).find((each) => each !== undefined);
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64url').toString();
}

/**
 * Whether a WebSocket may use the caller's cookies: it must not come from a page of another site. Programs send no
 * Origin, or set the Authorization header, which pages cannot. Over TLS, a page that was loaded without TLS counts as
 * another site, because it can be forged. `allowed` lists further origins.
 */
export function isTrustedOrigin(
  { origin, authorization, host }: IncomingHttpHeaders,
  allowed: readonly string[],
  isSecure: boolean,
): boolean {
  if (origin === undefined || authorization !== undefined || allowed.includes(origin)) return true;
  const url = URL.parse(origin);
  if (url === null || url.host !== host) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && !isSecure);
}
