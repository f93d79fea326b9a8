const TUNNEL_COOKIE = 'svc_tunnel';
/** With TLS: a browser takes it only from this very host (RFC 6265bis, section 4.1.3.2). */
const SECURE_COOKIE = '__Host-svc_tunnel';
/** What a link carries in its query. */
export const TUNNEL_PARAMETER = 'svc_tunnel';
/** Cookies of the platform itself: no service ever gets one, and none can set one. */
const OWN = /^(__Host-|__Secure-)?svc_(session|device|csrf|tunnel|preview)\b/i;

/** The value of our cookie on a service's host; first that of the name that no other host can set. */
export function tunnelCookieOf(header: string | undefined): string | null {
  const pairs = pairsOf(header);
  for (const name of [SECURE_COOKIE, TUNNEL_COOKIE]) {
    const pair = pairs.find((each) => each.startsWith(`${name}=`));
    if (pair !== undefined) return pair.slice(name.length + 1);
  }
  return null;
}

/** What is left of `Cookie` without ours; null when nothing is. */
export function foreignCookies(header: string): string | null {
  const kept = pairsOf(header).filter((pair) => !OWN.test(pair));
  return kept.length === 0 ? null : kept.join('; ');
}

/**
 * A service's `Set-Cookie` as it may pass: for its own host only, since the parent domain is that of other services
 * and perhaps of the platform; null when it would be one of ours. `path`: below which it stays on a host that the service
 * shares with others.
 */
export function confineSetCookie(value: string, path: string | null): string | null {
  if (OWN.test(value.trim())) return null;
  const ownHost = value.replaceAll(/;\s*domain\s*=[^;]*/gi, '');
  return path === null ? ownHost : `${ownHost.replaceAll(/;\s*path\s*=[^;]*/gi, '')}; Path=${path}`;
}

/** Only for this host; scripts never see it. */
export function tunnelCookie(token: string, maxAgeSeconds: number, isSecure: boolean): string {
  const pair = `${isSecure ? SECURE_COOKIE : TUNNEL_COOKIE}=${token}`;
  return `${pair}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}

function pairsOf(header: string | undefined): string[] {
  return (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '');
}
