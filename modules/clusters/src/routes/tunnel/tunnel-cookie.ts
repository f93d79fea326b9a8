import { confineSetCookie } from '@svc/access';

/** Query parameter that carries a link's token. */
export const TUNNEL_PARAMETER = 'svc_tunnel';

/**
 * Rewrites a service's `Set-Cookie`; null if it must not pass. `path` confines the cookie on a host shared with other
 * services.
 */
export function passSetCookie(value: string, path: string | null): string | null {
  const confined = confineSetCookie(value);
  if (confined === null || path === null) return confined;
  return `${confined.replaceAll(/;\s*path\s*=[^;]*/gi, '')}; Path=${path}`;
}
