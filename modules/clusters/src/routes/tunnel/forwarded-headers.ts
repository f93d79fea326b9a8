import type { IncomingMessage } from 'node:http';
import { endToEndHeaders, foreignCookies, type HeaderList } from '@svc/http';
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
  /** The caller's, also behind trusted proxies. */
  remoteAddress: string;
  /** How the caller reached the platform. */
  protocol: 'http' | 'https';
}

/** What a service gets to see of a request: nothing with which it could act as its caller on the platform. */
export function forwardedHeaders({ request, address, caller, remoteAddress, protocol }: ForwardedRequest): HeaderList {
  // With a cookie the header is not ours: it is what the service itself asked the browser for.
  const keepsAuthorization = caller.via === 'link' && address.service !== KUBERNETES_SERVICE;
  let hosts = 0;
  const headers = endToEndHeaders(request, (name) => {
    if (name === 'host') hosts += 1;
    return isDropped(name) || (name === 'authorization' && !keepsAuthorization);
  });
  // We would go by the first and the service perhaps by another (RFC 9112, section 3.2).
  if (hosts > 1) throw clusterErrors.INVALID_REQUEST({ details: { field: 'Host', reason: 'more than one was given' } });
  const cookies = foreignCookies(request.headers.cookie);
  if (cookies !== null && address.service !== KUBERNETES_SERVICE) headers.push('Cookie', cookies);
  headers.push('X-Forwarded-For', remoteAddress);
  headers.push('X-Forwarded-Host', request.headers.host ?? '');
  headers.push('X-Forwarded-Proto', protocol);
  if (address.prefix !== '') headers.push('X-Forwarded-Prefix', address.prefix);
  return headers;
}

/** What may not come after a body either: some servers take trailers for headers. */
export function isDroppedTrailer(name: string): boolean {
  return isDropped(name) || name === 'authorization';
}

function isDropped(name: string): boolean {
  return ALWAYS_DROPPED.has(name) || DROPPED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** What a caller gets to see of an answer. */
export function answeredHeaders(headers: HeaderList, { address, request }: ForwardedRequest): HeaderList {
  const passed: HeaderList = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? '';
    const value = headers[index + 1] ?? '';
    const lower = name.toLowerCase();
    if (lower === 'set-cookie') {
      // Below the platform's own paths a cookie would be the platform's.
      const path = address.form === 'service' ? null : address.prefix;
      const confined = address.form === 'path' ? null : passSetCookie(value, path);
      if (confined !== null) passed.push(name, confined);
    } else if (lower === 'location') {
      passed.push(name, movedLocation(value, address.prefix, request.headers.host ?? ''));
    } else passed.push(name, value);
  }
  // An origin that is the platform's or that of several services: what comes from there is never a page of it.
  if (address.form !== 'service')
    passed.push('Content-Security-Policy', 'sandbox', 'X-Content-Type-Options', 'nosniff');
  return passed;
}

/** A redirect of a service that does not know of its prefix leads back below it. */
function movedLocation(location: string, prefix: string, host: string): string {
  const origins = [`http://${host}`, `https://${host}`];
  const own = origins.find((origin) => location === origin || location.startsWith(`${origin}/`)) ?? '';
  const path = location.slice(own.length);
  const isPath = path === '' ? own !== '' : path.startsWith('/') && !path.startsWith('//');
  if (!isPath || path === prefix || path.startsWith(`${prefix}/`)) return location;
  return `${own}${prefix}${path}`;
}
