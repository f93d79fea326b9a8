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
   * For one exchange. To forwards only what may be repeated goes over kept connections, since a server may close one in
   * the very moment in which it is used again. No connection to the API server is ever shared by two users.
   */
  connectionsFor(request: TunnelRequest, isRepeatable: boolean): StreamAgent {
    const isKubernetes = request.service === KUBERNETES_SERVICE;
    if (!isKubernetes && !isRepeatable) return new StreamAgent(() => this.open(request), 0);
    const key = isKubernetes ? `${request.service} ${request.role} ${request.user}` : request.service;
    const known = this.#pools.get(key);
    if (known !== undefined) return known;
    if (this.#pools.size >= MAX_POOLS) this.#pools.clear(); // what waits in them ends by itself
    const idleMs = isKubernetes ? KUBERNETES_IDLE_MS : FORWARD_IDLE_MS;
    const pool = new StreamAgent(() => this.open(request), idleMs);
    this.#pools.set(key, pool);
    return pool;
  }
}
