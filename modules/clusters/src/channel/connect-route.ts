import { createAgentMessageDecoder, PROTOCOL_LIMITS } from '@svc/protocol';
import { rateLimitHeaders, RateLimiter, renderNestedError, type UpgradeRequest, type UpgradeRoute } from '@svc/http';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Clock } from '../domain/clock.ts';
import { timestampAfter } from '../domain/clock.ts';
import type { Cluster, ClusterStore, ConnectionStore } from '../domain/cluster.ts';
import { AGENT_TOKEN_PREFIX, hashAgentToken } from '../domain/identifiers.ts';
import { clusterErrors } from '../errors.ts';
import type { AgentConnections } from './agent-connections.ts';
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
}

/** Wrong tokens of one address in a minute. A right one still gets in: agents may share an address with a broken one. */
const FAILURES_PER_MINUTE = 120;

/** `GET /v1/agent/connect` with `Upgrade: websocket`: the agent's own authentication, then its session. */
export function createConnectRoute(options: ConnectRouteOptions): UpgradeRoute {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: PROTOCOL_LIMITS.frameSizeBytes,
    perMessageDeflate: false, // costs 300 KB for each connection
  });
  const decoder = createAgentMessageDecoder();
  const nowMs = (): number => options.clock.nowMs();
  const perMinute = options.connectsPerMinute;
  const connects = new RateLimiter({ perMinute, burst: perMinute }, nowMs);
  const failures = new RateLimiter({ perMinute: FAILURES_PER_MINUTE, burst: FAILURES_PER_MINUTE }, nowMs);

  return {
    matches: (_request, url) => url.pathname === CONNECT_PATH,
    render: renderNestedError,
    handle: async (upgrade) => {
      if (options.connections.draining) throw clusterErrors.SHUTTING_DOWN({ headers: { 'retry-after': '1' } });
      const { cluster, tokenHash } = await authenticate(upgrade, options, failures);
      const decision = connects.take(tokenHash);
      if (!decision.allowed) throw clusterErrors.RATE_LIMITED({ headers: rateLimitHeaders(decision) });
      requireClusterId(upgrade, cluster);
      requireWebSocket(upgrade);
      const now = options.clock.now();
      const leaseUntil = timestampAfter(now, options.leaseMs);
      // The epoch is taken before the handshake: an agent that is answered is one that the database knows.
      const epoch = await options.store.open(cluster.id, options.replicaId, now.toISOString(), leaseUntil);
      const socket = shakeHands(server, upgrade);
      if (socket === undefined) {
        await options.store.close(cluster.id, epoch, options.clock.now().toISOString());
        return;
      }
      const { clock, handlers, newMessageId } = options;
      options.connections.add(
        new AgentSession({ socket, clusterId: cluster.id, epoch, tokenHash, clock, decoder, newMessageId, handlers }),
      );
      options.onConnected(cluster.id, epoch);
    },
  };
}

async function authenticate(
  { request }: UpgradeRequest,
  { clusters, clock }: ConnectRouteOptions,
  failures: RateLimiter,
): Promise<{ cluster: Cluster; tokenHash: string }> {
  const address = request.socket.remoteAddress ?? '';
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) throw clusterErrors.UNAUTHORIZED({ headers: { 'www-authenticate': 'Bearer' } });
  const tokenHash = hashAgentToken(token);
  const cluster = token.startsWith(AGENT_TOKEN_PREFIX)
    ? await clusters.findByToken(tokenHash, clock.now().toISOString())
    : undefined;
  if (cluster !== undefined) return { cluster, tokenHash };
  const decision = failures.take(address);
  if (!decision.allowed) throw clusterErrors.RATE_LIMITED({ headers: rateLimitHeaders(decision) });
  throw clusterErrors.UNAUTHORIZED({ headers: { 'www-authenticate': 'Bearer error="invalid_token"' } });
}

/**
 * The id is what the contract asks for. The contract's configuration has no place for it, though, so an agent that
 * knows only its cluster's name may send that.
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

function requireWebSocket({ request }: UpgradeRequest): void {
  const { upgrade, 'sec-websocket-key': key } = request.headers;
  if (request.method === 'GET' && upgrade?.toLowerCase() === 'websocket' && key !== undefined) return;
  throw clusterErrors.INVALID_REQUEST({ details: { field: 'Upgrade', reason: 'a WebSocket handshake is needed' } });
}

/** `ws` calls back in the same turn or, when the socket is gone or the handshake is wrong, answers it and never does. */
function shakeHands(server: WebSocketServer, { request, socket, head }: UpgradeRequest): WebSocket | undefined {
  let accepted: WebSocket | undefined;
  server.handleUpgrade(request, socket, head, (webSocket) => {
    accepted = webSocket;
  });
  return accepted;
}
