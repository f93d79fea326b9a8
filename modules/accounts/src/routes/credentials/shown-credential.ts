import type { IncomingHttpHeaders } from 'node:http';
import { cookieValues, PLATFORM_COOKIES, subprotocolToken } from '@svc/access';

export type ShownCredential =
  | { kind: 'none' }
  /** An unrecognized credential; it is never skipped in favor of a weaker one. */
  | { kind: 'unreadable' }
  | { kind: 'bearer'; token: string }
  | { kind: 'session'; secret: string };

const MAX_TOKEN_LENGTH = 8 * 1024;
const BEARER = /^bearer +(\S+) *$/i;
const TOKEN = /^[A-Za-z0-9._~+/=-]+$/;

/**
 * The caller's credential: the Authorization header, else the WebSocket subprotocol `bearer.<base64url token>`, since
 * browsers cannot set headers there, else the session cookie. Only the first one present counts.
 */
export function shownCredential(headers: IncomingHttpHeaders, isSecure: boolean): ShownCredential {
  if (headers.authorization !== undefined) return asBearer(BEARER.exec(headers.authorization)?.[1]);
  const subprotocol = subprotocolToken(headers);
  if (subprotocol !== undefined) return asBearer(subprotocol);
  const [secret] = cookieValues(headers.cookie, PLATFORM_COOKIES.session, isSecure);
  return secret === undefined ? { kind: 'none' } : { kind: 'session', secret };
}

function asBearer(token: string | undefined): ShownCredential {
  const isReadable = token !== undefined && token.length <= MAX_TOKEN_LENGTH && TOKEN.test(token);
  return isReadable ? { kind: 'bearer', token } : { kind: 'unreadable' };
}
