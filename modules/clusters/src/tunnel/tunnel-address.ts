import type { IncomingMessage } from 'node:http';
import { isServiceName } from '@svc/protocol';

/** What a request through a tunnel asks for, before it is known whether it may. */
export interface TunnelAddress {
  /** How it came: on the cluster's own host, or below the platform's own paths. */
  form: 'host' | 'path';
  /** Id of the cluster; in a path also its name. */
  cluster: string;
  /** Null when the path names none, or something that cannot be one. */
  service: string | null;
  /** What the service gets: the rest of the path, with the query. Begins with a slash. */
  path: string;
  /** What was cut off in front of it, without a slash at its end. */
  prefix: string;
  teamUuid: string | null;
}

/** `cluster` may carry the team that its caller reaches it by: a kubeconfig can send neither queries nor headers. */
const TUNNEL_PREFIX = /^\/v1\/clusters\/([^/?#;]{1,128})(?:;team=([0-9a-f-]{36}))?\/tunnel(?=[/?]|$)/i;
const TEAM_HEADER = 'x-team-uuid';

/** Null when the request is not for a tunnel. Never looks at more than host and path: cheap enough for every request. */
export function tunnelAddressOf(request: IncomingMessage, domain: string): TunnelAddress | null {
  const url = request.url ?? '/';
  const header = request.headers[TEAM_HEADER];
  const team = typeof header === 'string' ? header : null;
  const host = clusterOfHost(request.headers.host ?? '', domain);
  if (host !== null) return { form: 'host', cluster: host, teamUuid: team, ...splitService(url, '') };
  const [prefix, cluster, teamOfPath] = TUNNEL_PREFIX.exec(url) ?? [];
  if (prefix === undefined || cluster === undefined) return null;
  const rest = splitService(url.slice(prefix.length), prefix);
  return { form: 'path', cluster, teamUuid: teamOfPath ?? team, ...rest };
}

/** `tunnel-cls-abc.tunnels.example.com:4000` -> `cls-abc`. A dot at the end of the name is the same name. */
function clusterOfHost(host: string, domain: string): string | null {
  const name = host.replace(/\.?(:\d+)?$/, '').toLowerCase();
  const suffix = `.${domain.toLowerCase()}`;
  if (!name.startsWith('tunnel-') || !name.endsWith(suffix)) return null;
  const cluster = name.slice('tunnel-'.length, -suffix.length);
  return cluster === '' || cluster.includes('.') ? null : cluster;
}

function splitService(url: string, before: string): Pick<TunnelAddress, 'service' | 'path' | 'prefix'> {
  const [, service = '', rest = ''] = /^\/([^/?#]*)([^#]*)/.exec(url) ?? [];
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  return { service: isServiceName(service) ? service : null, path, prefix: `${before}/${service}` };
}
