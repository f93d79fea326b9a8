/** A cookie set by the platform: host-only, for every path, and HttpOnly. */
export interface PlatformCookie {
  /** Name over plain HTTP; prefixed with `__Host-` over TLS. */
  readonly name: string;
  /** `Lax` if links from other sites must open the page behind the cookie. */
  readonly sameSite: 'Strict' | 'Lax';
}

/** All cookies of the platform. */
export const PLATFORM_COOKIES = {
  /** Console sign-in. Other sites cannot use it, not even by a link: the console's pages are static. */
  session: { name: 'svc_session', sameSite: 'Strict' },
  /** Marks a browser from which a user has signed in. */
  device: { name: 'svc_device', sameSite: 'Strict' },
  /** Set on the host of a forwarded cluster service. */
  tunnel: { name: 'svc_tunnel', sameSite: 'Lax' },
  /** Set on the host of a sandbox preview. */
  preview: { name: 'svc_preview', sameSite: 'Lax' },
} as const satisfies Record<string, PlatformCookie>;

const SECURE_PREFIX = '__Host-';
/** Includes unused names: programs behind the platform can neither see nor set any of these. */
const OURS = /^(?:__Host-|__Secure-)?svc[_-]/i;
/** Another host of the same domain may have set more cookies of the same name. */
const MAX_VALUES = 8;

/**
 * Returns the values of the cookie in the request. Over TLS, only the `__Host-` name counts: browsers accept it only
 * over TLS, from this exact host and for every path (RFC 6265bis, 4.1.3). Sibling hosts, or attackers who modify
 * unencrypted responses, can plant the plain name. Without TLS, browsers refuse the prefix.
 */
export function cookieValues(header: string | undefined, { name }: PlatformCookie, isSecure: boolean): string[] {
  const pairs = parsePairs(header);
  const secureName = `${SECURE_PREFIX}${name}`;
  return (isSecure ? [secureName] : [secureName, name])
    .flatMap((each) => pairs.filter((pair) => pair.startsWith(`${each}=`)).map((pair) => pair.slice(each.length + 1)))
    .filter((value) => value !== '')
    .slice(0, MAX_VALUES);
}

/** Serializes the `Set-Cookie` header for a value; a lifetime of 0 deletes the cookie. */
export function serializeCookie(
  { name, sameSite }: PlatformCookie,
  value: string,
  { maxAgeSeconds, isSecure }: { maxAgeSeconds: number; isSecure: boolean },
): string {
  const pair = `${isSecure ? SECURE_PREFIX : ''}${name}=${value}`;
  return `${pair}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`;
}

/** Whether a cookie name belongs to the platform. Browsers send a cookie without a name, `=svc_x=y`, as `svc_x=y`. */
export function isPlatformCookie(name: string): boolean {
  return OURS.test(name.replace(/^[=\s]+/, ''));
}

/** Returns the `Cookie` header without the platform's cookies, for programs behind it; null if empty. */
export function foreignCookies(header: string | undefined): string | null {
  const kept = parsePairs(header).filter((pair) => !isPlatformCookie(pair));
  return kept.length === 0 ? null : kept.join('; ');
}

/** Confines a program's `Set-Cookie` to its own host, ignoring its domain; null if it names a platform cookie. */
export function confineSetCookie(value: string): string | null {
  if (isPlatformCookie(value)) return null;
  const [pair = '', ...attributes] = value.split(';');
  return [pair, ...attributes.filter((each) => !/^\s*domain\s*(=|$)/i.test(each))].join(';');
}

function parsePairs(header: string | undefined): string[] {
  return (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '');
}
