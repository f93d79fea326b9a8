import {
  CLOSE_CODES,
  createAgentMessageDecoder,
  PROTOCOL_HEADER,
  PROTOCOL_LIMITS,
  PROTOCOL_TIMES,
  PROTOCOL_VERSION,
} from '@svc/protocol';
import { renderNestedError, type UpgradeRoute } from '@svc/http';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Clock } from '@svc/runtime';
import { timestampAfter } from '../../domain/timestamps.ts';
import type { ClusterStore, ConnectionStore } from '../../domain/cluster.ts';
import { clusterErrors } from '../../errors.ts';
import { acceptWebSocket, requireWebSocket } from '../accept-websocket.ts';
import { createAgentAuthentication } from './agent-authentication.ts';
import type { AgentConnections } from './agent-connections.ts';
import { confirmLive } from './confirm-live.ts';
import { AgentSession, type SessionHandlers } from './agent-session.ts';

export const CONNECT_PATH = '/v1/agent/connect';

export interface ConnectRouteOptions {
  clusters: ClusterStore;
  store: ConnectionStore;
  connections: AgentConnections;
  handlers: SessionHandlers;
  clock: Clock;
  replicaId: string;
  leaseMs: number;
  connectsPerMinute: number;
  newMessageId: () => string;
  onConnected: (clusterId: string, epoch: number) => void;
  /** Ends the connections of the cluster whose right was taken away. Before a connection is listed, that misses it. */
  recheck: (clusterId: string) => Promise<void>;
}

/** `GET /v1/agent/connect` with `Upgrade: websocket`: authenticates the agent, then starts its session. */
export function createConnectRoute(options: ConnectRouteOptions): UpgradeRoute {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: PROTOCOL_LIMITS.frameSizeBytes,
    perMessageDeflate: false, // costs 300 KB per connection
  });
  server.on('headers', (headers) => headers.push(`${PROTOCOL_HEADER}: ${PROTOCOL_VERSION}`));
  const decoder = createAgentMessageDecoder();
  const authenticate = createAgentAuthentication(options);

  return {
    name: 'agent channel',
    hold: { exempt: 'an agent shows its own token, and AgentConnections ends the channel with it' },
    matches: (_request, url) => url.pathname === CONNECT_PATH,
    render: renderNestedError,
    handle: async (upgrade) => {
      if (options.connections.draining) throw clusterErrors.SHUTTING_DOWN({ headers: { 'retry-after': '1' } });
      const { cluster, tokenHash } = await authenticate(upgrade);
      requireWebSocket(upgrade);
      const socket = acceptWebSocket(server, upgrade);
      if (socket === undefined) return;
      const { clock, handlers, newMessageId } = options;
      const handOver = await confirmLive(socket, clock, PROTOCOL_TIMES.pongTimeoutMs);
      if (handOver === null) return;
      const now = clock.now();
      const leaseUntil = timestampAfter(now, options.leaseMs);
      const epoch = await orEnd(socket, () =>
        options.store.open(cluster.id, options.replicaId, now.toISOString(), leaseUntil),
      );
      if (socket.readyState !== socket.OPEN) {
        await options.store.close(cluster.id, epoch, clock.now().toISOString());
        // The new epoch supersedes the current connection. Close it too, so that the agent reconnects with a newer
        // epoch; otherwise the row would show the cluster as disconnected.
        options.connections.closeCluster(cluster.id, CLOSE_CODES.serviceRestart, 'a newer connection broke off');
        return;
      }
      const announced = upgrade.request.headers[PROTOCOL_HEADER] !== undefined;
      const peer = { socket, announced, clusterId: cluster.id, epoch, tokenHash };
      options.connections.add(new AgentSession({ ...peer, clock, decoder, newMessageId, handlers }));
      handOver();
      options.onConnected(cluster.id, epoch);
      await orEnd(socket, () => options.recheck(cluster.id));
    },
  };
}

/** Ends the connection if this fails. The cluster may be deleted meanwhile. */
async function orEnd<Result>(socket: WebSocket, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    socket.terminate();
    throw error;
  }
}
