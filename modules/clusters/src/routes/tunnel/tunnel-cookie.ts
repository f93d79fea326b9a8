import { confineSetCookie } from '@svc/http';

/** What a link carries in its query. */
export const TUNNEL_PARAMETER = 'svc_tunnel';

/** A service's `Set-Cookie` as it may pass. `path`: below which it stays on a host that the service shares with others. */
export function passSetCookie(value: string, path: string | null): string | null {
  const confined = confineSetCookie(value);
  if (confined === null || path === null) return confined;
  return `${confined.replaceAll(/;\s*path\s*=[^;]*/gi, '')}; Path=${path}`;
}
