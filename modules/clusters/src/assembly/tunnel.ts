import { noForwarding, type UpgradeRouter } from '@svc/http';
import { BlockMemory } from '@svc/bytes';
import { createAgentAuthentication } from '../routes/channel/agent-authentication.ts';
import type { ClusterStore } from '../domain/cluster.ts';
import type { AgentAccess } from './agent-access.ts';
import type { ClustersModuleDependencies } from './assembly.ts';
import type { AgentTunnels } from '../adapters/tunnel/agent-tunnels.ts';
import { createForwardRoute } from '../routes/tunnel/forward-route.ts';
import { TunnelAccess } from '../routes/tunnel/tunnel-access.ts';
import { TunnelFront } from '../routes/tunnel/tunnel-front.ts';
import { createTunnelRoute } from '../routes/tunnel/tunnel-route.ts';
import type { TunnelStore } from '../domain/tunnel.ts';

export interface TunnelServices {
  front: TunnelFront;
  registerUpgrades(router: UpgradeRouter): void;
}

export interface TunnelServicesOptions {
  dependencies: ClustersModuleDependencies;
  clusters: ClusterStore;
  store: TunnelStore;
  tunnels: AgentTunnels;
  agentAccess: Pick<AgentAccess, 'recheck'>;
  leaseMs: number;
  onError: (error: unknown, context: Record<string, unknown>) => void;
}

export function createTunnelServices(options: TunnelServicesOptions): TunnelServices {
  const { dependencies, clusters, store, tunnels, agentAccess, leaseMs, onError } = options;
  const { access: port, rights, audit, clock, config, log, endpoints, replicaId, clientOf } = dependencies;
  const { forwarding = noForwarding } = dependencies;
  const { domain, max_streams: maxStreams, answer_timeout_seconds: answerSeconds } = config.tunnel;
  const access = new TunnelAccess({ access: port, clusters, store, clock });
  const memory = new BlockMemory();
  const front = new TunnelFront({
    tunnels,
    access,
    rights,
    forwarding,
    store,
    audit,
    clock,
    domain,
    answerTimeoutMs: answerSeconds * 1000,
    clientOf,
    isBehindTls: () => endpoints.publicUrl().startsWith('https:'),
    onError,
  });
  return {
    front,
    registerUpgrades: (router) => {
      // Must come first: on a cluster's own host, every path belongs to the service.
      router.add(front.upgradeRoute());
      router.add(
        createTunnelRoute({
          authenticate: createAgentAuthentication({ clusters, clock, connectsPerMinute: config.connects_per_minute }),
          store,
          tunnels,
          clock,
          replicaId,
          leaseMs,
          maxStreams,
          memory,
          onConnected: (cluster, epoch) => log.info({ cluster, epoch }, 'clusters: a tunnel connected'),
          recheck: (cluster) => agentAccess.recheck(cluster),
          onError,
        }),
      );
      router.add(createForwardRoute({ tunnels, access, store, clock, maxStreams, memory }));
    },
  };
}
