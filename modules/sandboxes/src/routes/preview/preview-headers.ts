import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { confineSetCookie, foreignCookies } from '@svc/access';
import { connectionOptions } from '@svc/http/relay';
import { SANDBOX_TOKEN } from '../../domain/access/sandbox-access.ts';
import type { PreviewPlace } from './preview-place.ts';

/** RFC 9110 section 7.6.1, plus headers between the platform and the client. */
const HOP_BY_HOP = [
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const FORWARDED = ['forwarded', 'x-real-ip', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-port'];
/** Sent by E2B clients to ports that are not public. */
export const TRAFFIC_TOKEN = 'e2b-traffic-access-token';
const FORWARDED_TOO = [TRAFFIC_TOKEN, 'x-forwarded-proto', 'x-forwarded-prefix', 'x-forwarded-server', 'x-csrf-token'];
/**
 * E2B clients send the token of the data plane to every port. A program inside must not get it; a header of the same name
 * that the program itself defines is left alone. Headers of one name arrive joined by commas.
 */
const hasSandboxToken = (value: unknown): boolean =>
  typeof value === 'string' && value.split(',').some((each) => SANDBOX_TOKEN.test(each.trim()));
/** These headers affect more than one origin, or how the browser reaches the platform. */
const NOT_A_SANDBOXS_TO_SAY = ['alt-svc', 'clear-site-data', 'strict-transport-security', 'public-key-pins'];

export interface RequestFacts {
  readonly place: PreviewPlace;
  readonly remoteAddress: string;
  readonly scheme: 'http' | 'https';
  /** The credential belongs to the platform and must not reach the sandbox. */
  readonly dropAuthorization: boolean;
}

/** Headers sent to the program in the sandbox. */
export function requestHeaders(given: IncomingHttpHeaders, facts: RequestFacts): OutgoingHttpHeaders {
  const { place, remoteAddress, scheme } = facts;
  const headers = without(given, [...FORWARDED, ...FORWARDED_TOO]);
  if (facts.dropAuthorization) delete headers['authorization'];
  if (hasSandboxToken(headers['x-access-token'])) delete headers['x-access-token'];
  const cookie = place.kind === 'path' ? null : foreignCookies(given.cookie);
  if (cookie === null) delete headers['cookie'];
  else headers['cookie'] = cookie;
  // A body without a length is chunked again on the next hop.
  if (given['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked';
  const port = /:(\d+)$/.exec(place.host)?.[1] ?? (scheme === 'https' ? '443' : '80');
  return {
    ...headers,
    'x-forwarded-for': remoteAddress,
    'x-forwarded-host': place.host,
    'x-forwarded-port': port,
    'x-forwarded-proto': scheme,
    ...(place.kind === 'path' ? { 'x-forwarded-prefix': place.prefix } : {}),
  };
}

/** Headers sent to the browser. */
export function responseHeaders(
  given: IncomingHttpHeaders,
  place: PreviewPlace,
  origin: string | undefined,
): OutgoingHttpHeaders {
  const headers = without(given, NOT_A_SANDBOXS_TO_SAY);
  delete headers['set-cookie'];
  if (place.kind === 'path') return isolated(headers, origin);
  const cookies = (given['set-cookie'] ?? []).flatMap((each) => confineSetCookie(each) ?? []);
  return cookies.length === 0 ? headers : { ...headers, 'set-cookie': cookies };
}

/**
 * On the platform's own host, gives a sandbox's page an opaque origin: it can read neither the console nor other
 * previews, and has no cookies. Its own requests carry `Origin: null`.
 */
function isolated(headers: OutgoingHttpHeaders, origin: string | undefined): OutgoingHttpHeaders {
  const policy = 'sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts';
  const theirs = headers['content-security-policy'];
  delete headers['service-worker-allowed'];
  return {
    ...headers,
    'content-security-policy': theirs === undefined ? policy : `${String(theirs)}, ${policy}`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    ...(origin === 'null' ? { 'access-control-allow-origin': 'null', vary: 'origin' } : {}),
  };
}

function without(given: IncomingHttpHeaders, names: readonly string[]): OutgoingHttpHeaders {
  const dropped = new Set([...HOP_BY_HOP, ...names, ...connectionOptions(given.connection ?? '')]);
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== undefined && !dropped.has(name)));
}
