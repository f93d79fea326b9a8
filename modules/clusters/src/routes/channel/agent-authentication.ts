import { addressKey } from '@svc/addresses';
import { rateLimitHeaders, RateLimiter, type UpgradeRequest } from '@svc/http';
import type { Clock } from '@svc/runtime';
import type { Cluster, ClusterStore } from '../../domain/cluster.ts';
import { AGENT_TOKEN_PREFIX, hashAgentToken } from '../../domain/identifiers.ts';
import { clusterErrors } from '../../errors.ts';

/** Failed attempts per address and minute. A valid token still works: agents may share an address with a broken one. */
const FAILURES_PER_MINUTE = 120;

export interface AgentAuthenticationOptions {
  clusters: ClusterStore;
  clock: Clock;
  connectsPerMinute: number;
}

export interface AuthenticatedAgent {
  cluster: Cluster;
  tokenHash: string;
}

/** Authenticates a connecting agent by its token and cluster. Throws 401, 403, 429. */
export function createAgentAuthentication({
  clusters,
  clock,
  connectsPerMinute: perMinute,
}: AgentAuthenticationOptions): (upgrade: UpgradeRequest) => Promise<AuthenticatedAgent> {
  const nowMs = (): number => clock.nowMs();
  const connects = new RateLimiter({ perMinute, burst: perMinute }, nowMs);
  const failures = new RateLimiter({ perMinute: FAILURES_PER_MINUTE, burst: FAILURES_PER_MINUTE }, nowMs);

  const authenticate = async ({ request, client }: UpgradeRequest): Promise<AuthenticatedAgent> => {
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) throw clusterErrors.UNAUTHORIZED({ headers: { 'www-authenticate': 'Bearer' } });
    const tokenHash = hashAgentToken(token);
    const cluster = token.startsWith(AGENT_TOKEN_PREFIX)
      ? await clusters.findByToken(tokenHash, clock.now().toISOString())
      : undefined;
    if (cluster !== undefined) return { cluster, tokenHash };
    const decision = failures.take(addressKey(client.remoteAddress));
    if (!decision.allowed) throw clusterErrors.RATE_LIMITED({ headers: rateLimitHeaders(decision) });
    throw clusterErrors.UNAUTHORIZED({ headers: { 'www-authenticate': 'Bearer error="invalid_token"' } });
  };
  return async (upgrade) => {
    const agent = await authenticate(upgrade);
    const decision = connects.take(agent.tokenHash);
    if (!decision.allowed) throw clusterErrors.RATE_LIMITED({ headers: rateLimitHeaders(decision) });
    requireClusterId(upgrade, agent.cluster);
    return agent;
  };
}

/**
 * The contract requires the cluster id, but its configuration has no field for it, so an agent that knows only the
 * cluster's name may send that instead.
 */
function requireClusterId({ request }: UpgradeRequest, cluster: Cluster): void {
  const given = request.headers['x-cluster-id'];
  if (typeof given !== 'string' || given === '') {
    throw clusterErrors.INVALID_REQUEST({ details: { field: 'X-Cluster-ID', reason: 'X-Cluster-ID is missing' } });
  }
  if (given === cluster.id || given === cluster.name) return;
  throw clusterErrors.FORBIDDEN({
    details: { field: 'X-Cluster-ID', reason: 'the token belongs to another cluster' },
  });
}
