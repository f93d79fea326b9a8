import { Socket } from 'node:net';
import type { BlockMemory } from '@svc/bytes';
import { renderNestedError, type UpgradeRequest, type UpgradeRoute } from '@svc/http';
import { createMuxAcceptor, MUX_CODES, MuxSession } from '@svc/mux';
import { TUNNEL_PATH } from '@svc/protocol';
import type { AuthenticatedAgent } from '../channel/agent-authentication.ts';
import { type Clock } from '@svc/runtime';
import { timestampAfter } from '../../domain/timestamps.ts';
import { clusterErrors } from '../../errors.ts';
import { AgentTunnel } from '../../adapters/tunnel/agent-tunnel.ts';
import type { AgentTunnels } from '../../adapters/tunnel/agent-tunnels.ts';
import type { TunnelStore } from '../../domain/tunnel.ts';

export interface TunnelRouteOptions {
  authenticate: (upgrade: UpgradeRequest) => Promise<AuthenticatedAgent>;
  store: TunnelStore;
  tunnels: AgentTunnels;
  clock: Clock;
  replicaId: string;
  leaseMs: number;
  maxStreams: number;
  memory: BlockMemory;
  onConnected: (clusterId: string, epoch: number) => void;
  /** Ends the connections of the cluster whose right was taken away. Before a tunnel is listed, that misses it. */
  recheck: (clusterId: string) => Promise<void>;
  onError: (error: unknown, context: Record<string, unknown>) => void;
}

/** `GET /v1/agent/tunnel`: an agent's second connection. The agent may not open streams; any attempt is refused. */
export function createTunnelRoute(options: TunnelRouteOptions): UpgradeRoute {
  const { authenticate, store, tunnels, clock, replicaId, leaseMs, maxStreams, onConnected, onError } = options;
  const acceptor = createMuxAcceptor();
  return {
    name: 'agent tunnel',
    hold: { exempt: 'an agent shows its own token, and AgentTunnels ends the tunnel with it' },
    matches: (_request, url) => url.pathname === TUNNEL_PATH,
    render: renderNestedError,
    handle: async (upgrade) => {
      if (tunnels.draining) throw clusterErrors.SHUTTING_DOWN({ headers: { 'retry-after': '1' } });
      const { cluster, tokenHash } = await authenticate(upgrade);
      if (!acceptor.wants(upgrade.request)) {
        const reason = 'svc-mux/1, or a WebSocket with the subprotocol svc-mux.1, is required';
        throw clusterErrors.INVALID_REQUEST({ details: { field: 'Upgrade', reason } });
      }
      const transport = acceptor.accept(upgrade);
      if (transport === null) return;
      if (upgrade.socket instanceof Socket) upgrade.socket.setTimeout(0); // the session checks liveness itself
      const session = new MuxSession(transport, {
        role: 'server',
        memory: options.memory,
        limits: { maxIncomingStreams: 0, maxOutgoingStreams: maxStreams },
      });
      // After a pause, this process accepts handshakes whose sender left; only a live agent moves its tunnel here.
      if (!(await session.heard)) return;
      if (tunnels.draining) return session.close(MUX_CODES.GOING_AWAY);
      const now = clock.now();
      const epoch = await orClose(session, () =>
        store.open(cluster.id, replicaId, now.toISOString(), timestampAfter(now, leaseMs)),
      );
      const tunnel = new AgentTunnel({ session, clusterId: cluster.id, epoch, tokenHash });
      tunnels.add(tunnel);
      onConnected(cluster.id, epoch);
      void session.closed.then(() => {
        tunnels.remove(tunnel);
        return store.close(cluster.id, epoch).catch((error: unknown) => onError(error, { cluster: cluster.id }));
      });
      await orClose(session, () => options.recheck(cluster.id));
    },
  };
}

/** Closes the tunnel if this fails. The cluster may be deleted meanwhile. */
async function orClose<Result>(session: MuxSession, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    session.close();
    throw error;
  }
}
