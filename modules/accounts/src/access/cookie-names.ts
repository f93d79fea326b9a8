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

/** The value that the browser sent, the stronger name first. */
export function readCookie(headers: IncomingHttpHeaders, purpose: CookiePurpose): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const { secure, plain } = COOKIE_NAMES[purpose];
  for (const name of [secure, plain]) {
    const pair = pairs.find((each) => each.startsWith(`${name}=`));
    const value = pair?.slice(name.length + 1);
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}
