/** A cookie that the platform sets, always for one host, every path, and out of reach of scripts. */
export interface PlatformCookie {
  /** Over plain HTTP. With TLS it carries `__Host-`. */
  readonly name: string;
  /** `Lax` where a link from elsewhere must open the page that is behind the cookie. */
  readonly sameSite: 'Strict' | 'Lax';
}

/** Every cookie of the platform. */
export const PLATFORM_COOKIES = {
  /** A sign-in to the console. No page of another site can use it, not even by a link: the console's pages are static. */
  session: { name: 'svc_session', sameSite: 'Strict' },
  /** A browser from which a user has signed in. */
  device: { name: 'svc_device', sameSite: 'Strict' },
  /** On the host of a forwarded service of a cluster. */
  tunnel: { name: 'svc_tunnel', sameSite: 'Lax' },
  /** On the host of a preview of a sandbox. */
  preview: { name: 'svc_preview', sameSite: 'Lax' },
} as const satisfies Record<string, PlatformCookie>;

const SECURE_PREFIX = '__Host-';
/** Also those that the platform has no use for: programs behind it neither see nor set any of these. */
const OURS = /^(?:__Host-|__Secure-)?svc[_-]/i;
/** Another host of the same domain may have set further ones of the same name. */
const MAX_VALUES = 8;

/**
 * What the browser sent. Over TLS only the name with `__Host-` counts: the browser takes that one only over TLS, from this
 * very host and for every path (RFC 6265bis, 4.1.3), while another host below the same domain, or whoever changes an
 * unencrypted answer, can plant a cookie with the plain name. Without TLS browsers refuse the prefix.
 */
export function cookieValues(header: string | undefined, { name }: PlatformCookie, isSecure: boolean): string[] {
  const pairs = pairsOf(header);
  const secureName = `${SECURE_PREFIX}${name}`;
  return (isSecure ? [secureName] : [secureName, name])
    .flatMap((each) => pairs.filter((pair) => pair.startsWith(`${each}=`)).map((pair) => pair.slice(each.length + 1)))
    .filter((value) => value !== '')
    .slice(0, MAX_VALUES);
}

/** The `Set-Cookie` that gives a browser the value; a lifetime of 0 takes it away. */
export function serializeCookie(
  { name, sameSite }: PlatformCookie,
  value: string,
  { maxAgeSeconds, isSecure }: { maxAgeSeconds: number; isSecure: boolean },
): string {
  const pair = `${isSecure ? SECURE_PREFIX : ''}${name}=${value}`;
  return `${pair}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`;
}

/** Whether a cookie's name is one of the platform's. */
export function isPlatformCookie(name: string): boolean {
  return OURS.test(name.trim());
}

/** What is left of `Cookie` without the platform's, for programs behind it; null when nothing is. */
export function foreignCookies(header: string | undefined): string | null {
  const kept = pairsOf(header).filter((pair) => !isPlatformCookie(pair));
  return kept.length === 0 ? null : kept.join('; ');
}

/** A program's `Set-Cookie` for its own host only, whatever domain it names; null when it would be one of the platform's. */
export function confineSetCookie(value: string): string | null {
  if (isPlatformCookie(value)) return null;
  const [pair = '', ...attributes] = value.split(';');
  return [pair, ...attributes.filter((each) => !/^\s*domain\s*(=|$)/i.test(each))].join(';');
}

function pairsOf(header: string | undefined): string[] {
  return (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '');
}
