import type { IncomingHttpHeaders } from 'node:http';
import { cookieValues, PLATFORM_COOKIES } from '@svc/access';

export type ShownCredential =
  | { kind: 'none' }
  /** An unrecognized credential; it is never skipped in favor of a weaker one. */
  | { kind: 'unreadable' }
  | { kind: 'bearer'; token: string }
  | { kind: 'session'; secret: string };

const MAX_TOKEN_LENGTH = 8 * 1024;
const BEARER = /^bearer +([A-Za-z0-9._~+/=-]+) *$/i;
const SUBPROTOCOL = /^bearer\.([A-Za-z0-9_-]+)$/;

/**
 * The caller's credential: the Authorization header, else the WebSocket subprotocol `bearer.<base64url token>`, since
 * browsers cannot set headers there, else the session cookie. Only the first one present counts.
 */
export function shownCredential(headers: IncomingHttpHeaders, isSecure: boolean): ShownCredential {
  if (headers.authorization !== undefined) return asBearer(BEARER.exec(headers.authorization)?.[1]);
  const subprotocol = subprotocolToken(headers);
  if (subprotocol !== undefined) return asBearer(Buffer.from(subprotocol, 'base64url').toString());
  const [secret] = cookieValues(headers.cookie, PLATFORM_COOKIES.session, isSecure);
  return secret === undefined ? { kind: 'none' } : { kind: 'session', secret };
}

function subprotocolToken(headers: IncomingHttpHeaders): string | undefined {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return undefined;
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim());
  return offered.map((each) => SUBPROTOCOL.exec(each)?.[1]).find((token) => token !== undefined);
}

function asBearer(token: string | undefined): ShownCredential {
  return token === undefined || token.length > MAX_TOKEN_LENGTH ? { kind: 'unreadable' } : { kind: 'bearer', token };
}
