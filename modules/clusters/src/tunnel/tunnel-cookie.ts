export const TUNNEL_COOKIE = 'svc_tunnel';
/** What a link carries in its query. */
export const TUNNEL_PARAMETER = 'svc_tunnel';
/** Cookies of the platform itself: no service ever gets one, and none can set one. */
const OWN = /^(__Host-|__Secure-)?svc_(session|device|csrf|tunnel|preview)\b/i;

/** The value of our cookie on a tunnel's host. */
export function tunnelCookieOf(header: string | undefined): string | null {
  const pair = pairsOf(header).find((each) => each.startsWith(`${TUNNEL_COOKIE}=`));
  return pair === undefined ? null : pair.slice(TUNNEL_COOKIE.length + 1);
}

/** What is left of `Cookie` without ours; null when nothing is. */
export function foreignCookies(header: string): string | null {
  const kept = pairsOf(header).filter((pair) => !OWN.test(pair));
  return kept.length === 0 ? null : kept.join('; ');
}

/**
 * A service's `Set-Cookie` as it may pass: for its own host only, since the parent domain is that of other clusters
 * and perhaps of the platform; null when it would be one of ours.
 */
export function confineSetCookie(value: string): string | null {
  if (OWN.test(value.trim())) return null;
  return value.replaceAll(/;\s*domain\s*=[^;]*/gi, '');
}

/** Only for this host and the one service; scripts never see it. */
export function tunnelCookie(token: string, service: string, maxAgeSeconds: number, isSecure: boolean): string {
  const secure = isSecure ? '; Secure' : '';
  return `${TUNNEL_COOKIE}=${token}; Path=/${service}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

function pairsOf(header: string | undefined): string[] {
  return (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '');
}
