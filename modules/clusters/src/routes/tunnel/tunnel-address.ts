import type { IncomingMessage } from 'node:http';
import { isServiceName } from '@svc/protocol';
import { isClusterId, sha256 } from '../../domain/identifiers.ts';

/** The target of a request through a tunnel, before authorization. */
export interface TunnelAddress {
  /**
   * How the request was addressed. `service`: the service's own host, an origin of its own. `host`: the cluster's host,
   * for programs with a token. `path`: below the platform's own paths, also for programs.
   */
  form: 'service' | 'host' | 'path';
  /** Cluster id; in a path also the name. */
  cluster: string;
  /** Null if the address names no valid service. On a service's own host, the label of the service. */
  service: string | null;
  /** Path and query passed to the service. Begins with a slash. */
  path: string;
  /** The part removed in front of `path`, without a trailing slash. */
  prefix: string;
  teamUuid: string | null;
}

/**
 * `cluster` may carry the team through which the caller reaches it: a kubeconfig can send neither query nor headers.
 */
const TUNNEL_PREFIX = /^\/v1\/clusters\/([^/?#;]{1,128})(?:;team=([0-9a-f-]{36}))?\/tunnel(?=[/?]|$)/i;
const TEAM_HEADER = 'x-team-uuid';
const HOST_PREFIX = 'tunnel-';
/** `cls-` and twelve characters. */
const CLUSTER_ID_LENGTH = 16;
/** A hostname label has at most 63 characters (RFC 1035, section 2.3.4). */
const MAX_SERVICE_LABEL = 63 - HOST_PREFIX.length - CLUSTER_ID_LENGTH - 1;
const HASH_LENGTH = 10;

/** Null if the request is not for a tunnel. Reads only host and path, so it is cheap enough for every request. */
export function parseTunnelAddress(request: IncomingMessage, domain: string): TunnelAddress | null {
  const url = request.url ?? '/';
  const header = request.headers[TEAM_HEADER];
  const teamUuid = typeof header === 'string' ? header : null;
  const label = labelOfHost(request.headers.host ?? '', domain);
  if (label !== null) return { teamUuid, ...addressOfLabel(label, url) };
  const [prefix, cluster, teamOfPath] = TUNNEL_PREFIX.exec(url) ?? [];
  if (prefix === undefined || cluster === undefined) return null;
  const rest = splitService(url.slice(prefix.length), prefix);
  return { form: 'path', cluster, teamUuid: teamOfPath ?? teamUuid, ...rest };
}

/** The host of one service of a cluster, such as `tunnel-cls-abc-grafana.localhost`. */
export function serviceHost(clusterId: string, service: string, domain: string): string {
  return `${HOST_PREFIX}${clusterId}-${serviceLabel(service)}.${domain}`;
}

/** The host of a cluster, for programs with a token. */
export function clusterHost(clusterId: string, domain: string): string {
  return `${HOST_PREFIX}${clusterId}.${domain}`;
}

/** A name too long for a label is cut and ends in a hash of the full name. */
export function serviceLabel(service: string): string {
  if (service.length <= MAX_SERVICE_LABEL) return service;
  const start = service.slice(0, MAX_SERVICE_LABEL - HASH_LENGTH - 1).replace(/(?<!-)-+$/, '');
  return `${start}-${sha256(service).slice(0, HASH_LENGTH)}`;
}

/** `tunnel-cls-abc.tunnels.example.com:4000` -> `cls-abc`. A trailing dot makes no difference. */
function labelOfHost(host: string, domain: string): string | null {
  const name = host.replace(/\.?(:\d+)?$/, '').toLowerCase();
  const suffix = `.${domain.toLowerCase()}`;
  if (!name.startsWith(HOST_PREFIX) || !name.endsWith(suffix)) return null;
  const label = name.slice(HOST_PREFIX.length, -suffix.length);
  return label === '' || label.includes('.') ? null : label;
}

function addressOfLabel(label: string, url: string): Omit<TunnelAddress, 'teamUuid'> {
  const cluster = label.slice(0, CLUSTER_ID_LENGTH);
  const service = label.slice(CLUSTER_ID_LENGTH + 1);
  if (label[CLUSTER_ID_LENGTH] !== '-' || !isClusterId(cluster)) {
    return { form: 'host', cluster: label, ...splitService(url, '') };
  }
  const path = (url.split('#', 1)[0] ?? '').replace(/^(?!\/)/, '/');
  return { form: 'service', cluster, service: isServiceName(service) ? service : null, path, prefix: '' };
}

function splitService(url: string, before: string): Pick<TunnelAddress, 'service' | 'path' | 'prefix'> {
  const [, service = '', rest = ''] = /^\/([^/?#]*)([^#]*)/.exec(url) ?? [];
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  return { service: isServiceName(service) ? service : null, path, prefix: `${before}/${service}` };
}
