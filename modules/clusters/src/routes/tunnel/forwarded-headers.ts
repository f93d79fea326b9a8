import type { IncomingMessage } from 'node:http';
import { foreignCookies } from '@svc/access';
import { endToEndHeaders, type HeaderList } from '@svc/http';
import { KUBERNETES_SERVICE } from '@svc/protocol';
import { clusterErrors } from '../../errors.ts';
import type { TunnelCaller } from './tunnel-access.ts';
import type { TunnelAddress } from './tunnel-address.ts';
import { passSetCookie } from './tunnel-cookie.ts';

const ALWAYS_DROPPED: ReadonlySet<string> = new Set(['cookie', 'forwarded', 'x-real-ip', 'x-team-uuid']);
const DROPPED_PREFIXES: readonly string[] = ['impersonate-', 'x-forwarded-', 'x-remote-'];

export interface ForwardedRequest {
  request: IncomingMessage;
  address: TunnelAddress;
  caller: TunnelCaller;
  /** The caller's address, also behind trusted proxies. */
  remoteAddress: string;
  /** How the caller reached the platform. */
  protocol: 'http' | 'https';
}

/** Headers that a service receives: none that would let it act as its caller on the platform. */
export function forwardedHeaders({ request, address, caller, remoteAddress, protocol }: ForwardedRequest): HeaderList {
  // With a cookie, the header is not ours: the service itself asked the browser for it.
  const keepsAuthorization = caller.via === 'link' && address.service !== KUBERNETES_SERVICE;
  let hosts = 0;
  const headers = endToEndHeaders(request, (name) => {
    if (name === 'host') hosts += 1;
    return isDropped(name) || (name === 'authorization' && !keepsAuthorization);
  });
  // The platform would use the first one, the service perhaps another (RFC 9112, section 3.2).
  if (hosts > 1)
    throw clusterErrors.INVALID_REQUEST({ details: { field: 'Host', reason: 'more than one Host header' } });
  const cookies = foreignCookies(request.headers.cookie);
  if (cookies !== null && address.service !== KUBERNETES_SERVICE) headers.push('Cookie', cookies);
  headers.push('X-Forwarded-For', remoteAddress);
  headers.push('X-Forwarded-Host', request.headers.host ?? '');
  headers.push('X-Forwarded-Proto', protocol);
  if (address.prefix !== '') headers.push('X-Forwarded-Prefix', address.prefix);
  return headers;
}

/** Headers that must not appear as trailers either: some servers treat trailers as headers. */
export function isDroppedTrailer(name: string): boolean {
  return isDropped(name) || name === 'authorization';
}

function isDropped(name: string): boolean {
  return ALWAYS_DROPPED.has(name) || DROPPED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** Headers of the response that a caller receives. */
export function answeredHeaders(headers: HeaderList, { address, request }: ForwardedRequest): HeaderList {
  const passed: HeaderList = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? '';
    const value = headers[index + 1] ?? '';
    const lower = name.toLowerCase();
    if (lower === 'set-cookie') {
      // A cookie set below the platform's own paths would become a platform cookie.
      const path = address.form === 'service' ? null : address.prefix;
      const confined = address.form === 'path' ? null : passSetCookie(value, path);
      if (confined !== null) passed.push(name, confined);
    } else if (lower === 'location') {
      passed.push(name, movedLocation(value, address.prefix, request.headers.host ?? ''));
    } else passed.push(name, value);
  }
  // The origin belongs to the platform or to several services, so nothing from it may run as its page.
  if (address.form !== 'service')
    passed.push('Content-Security-Policy', 'sandbox', 'X-Content-Type-Options', 'nosniff');
  return passed;
}

/** Redirects of a service that does not know its prefix are mapped back below it. */
function movedLocation(location: string, prefix: string, host: string): string {
  const origins = [`http://${host}`, `https://${host}`];
  const own = origins.find((origin) => location === origin || location.startsWith(`${origin}/`)) ?? '';
  const path = location.slice(own.length);
  const isPath = path === '' ? own !== '' : path.startsWith('/') && !path.startsWith('//');
  if (!isPath || path === prefix || path.startsWith(`${prefix}/`)) return location;
  return `${own}${prefix}${path}`;
}
