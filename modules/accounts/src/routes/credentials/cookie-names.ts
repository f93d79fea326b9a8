import type { IncomingHttpHeaders } from 'node:http';

/**
 * With TLS the names carry `__Host-`: the browser then takes the cookie only over TLS, for this very host and every path
 * (RFC 6265bis, 4.1.3). Without TLS browsers refuse that prefix.
 */
export const COOKIE_NAMES = {
  session: { secure: '__Host-svc_session', plain: 'svc_session' },
  device: { secure: '__Host-svc_device', plain: 'svc_device' },
} as const;

export type CookiePurpose = keyof typeof COOKIE_NAMES;

/**
 * The value that the browser sent. Over TLS only the `__Host-` name counts: another host below the same domain, or whoever
 * changes an unencrypted answer, can plant a cookie with the plain name, but never one with the prefix.
 */
export function readCookie(
  headers: IncomingHttpHeaders,
  purpose: CookiePurpose,
  isSecure: boolean,
): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const { secure, plain } = COOKIE_NAMES[purpose];
  for (const name of isSecure ? [secure] : [secure, plain]) {
    const pair = pairs.find((each) => each.startsWith(`${name}=`));
    const value = pair?.slice(name.length + 1);
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}
