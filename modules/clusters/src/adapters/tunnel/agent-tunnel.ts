import { PlainConnections } from '@svc/http';
import type { MuxSession, MuxStream } from '@svc/mux';
import { encodeTunnelRequest, KUBERNETES_SERVICE, type TunnelRequest } from '@svc/protocol';
import { StreamAgent } from './stream-agent.ts';

/** Below the five seconds after which many servers close a connection that waits. */
const FORWARD_IDLE_MS = 4000;
/** These end at our own agent, which closes none by itself. */
const KUBERNETES_IDLE_MS = 60_000;
const MAX_POOLS = 512;

export interface AgentTunnelOptions {
  session: MuxSession;
  clusterId: string;
  epoch: number;
  tokenHash: string;
}

/** The tunnel of one cluster's agent, and the connections through it that wait for their next request. */
export class AgentTunnel {
  readonly session: MuxSession;
  readonly clusterId: string;
  readonly epoch: number;
  readonly tokenHash: string;
  readonly #pools = new Map<string, StreamAgent>();
  readonly #plainPools = new Map<string, PlainConnections>();

  constructor({ session, clusterId, epoch, tokenHash }: AgentTunnelOptions) {
    this.session = session;
    this.clusterId = clusterId;
    this.epoch = epoch;
    this.tokenHash = tokenHash;
  }

  /** A connection to the service; throws a `MuxError` when there can be none. */
  open(request: TunnelRequest): MuxStream {
    return this.session.open(encodeTunnelRequest(request));
  }

  /**
   * For exchanges that `relayPlain` may repeat. A forward's server may close a kept connection in the very moment in
   * which it is used again, so that nothing else goes over one.
   */
  plainConnectionsFor(request: TunnelRequest): PlainConnections {
    const idleMs = request.service === KUBERNETES_SERVICE ? KUBERNETES_IDLE_MS : FORWARD_IDLE_MS;
    return pooled(this.#plainPools, keyOf(request), () => new PlainConnections(() => this.open(request), idleMs));
  }

  /** For any other exchange: a connection of its own, except to the API server, where our own agent keeps them open. */
  connectionsFor(request: TunnelRequest): StreamAgent {
    if (request.service !== KUBERNETES_SERVICE) return new StreamAgent(() => this.open(request), 0);
    return pooled(this.#pools, keyOf(request), () => new StreamAgent(() => this.open(request), KUBERNETES_IDLE_MS));
  }
}

/** No connection to the API server is ever shared by two users. */
function keyOf({ service, role, user }: TunnelRequest): string {
  return service === KUBERNETES_SERVICE ? `${service} ${role} ${user}` : service;
}

function pooled<Pool>(pools: Map<string, Pool>, key: string, create: () => Pool): Pool {
  const known = pools.get(key);
  if (known !== undefined) return known;
  if (pools.size >= MAX_POOLS) pools.clear(); // what waits in them ends by itself
  const pool = create();
  pools.set(key, pool);
  return pool;
}
