import { PlainConnections } from '@svc/http';
import type { MuxSession, MuxStream } from '@svc/mux';
import { encodeTunnelRequest, KUBERNETES_SERVICE, SANDBOXES_SERVICE, type TunnelRequest } from '@svc/protocol';
import { Agent, type ClientRequest } from 'node:http';
import type { Duplex } from 'node:stream';

/** More idle connections would only hold flow-control windows on both sides. */
const MAX_FREE = 64;

/** An `http.Agent` whose connections are tunnel streams, kept for reuse and closed when idle. */
class StreamAgent extends Agent {
  readonly #open: () => Duplex;
  readonly #idleMs: number;
  readonly #timers = new WeakMap<Duplex, NodeJS.Timeout>();

  /** With `idleMs` 0, each connection serves one request. */
  constructor(open: () => Duplex, idleMs: number) {
    super({ keepAlive: idleMs > 0, maxFreeSockets: MAX_FREE, maxTotalSockets: Infinity });
    this.#open = open;
    this.#idleMs = idleMs;
  }

  override createConnection(): Duplex {
    return this.#open();
  }

  override keepSocketAlive(stream: Duplex): boolean {
    if (this.#idleMs === 0 || stream.destroyed || stream.readableEnded) return false;
    this.#timers.set(
      stream,
      setTimeout(() => stream.destroy(), this.#idleMs).unref(), // an idle stream must not keep the process alive
    );
    return true;
  }

  override reuseSocket(stream: Duplex, request: ClientRequest): void {
    clearTimeout(this.#timers.get(stream));
    // Removes the idle listeners, which would otherwise leak on each reuse. It also calls `ref`, which streams lack.
    super.reuseSocket(Object.assign(stream, { ref: () => stream }), request);
  }
}

/** Below the five seconds after which many servers close an idle connection. */
const FORWARD_IDLE_MS = 4000;
/** These connections end at our own agent, which never closes an idle one. */
const KUBERNETES_IDLE_MS = 60_000;
const MAX_POOLS = 512;

export interface AgentTunnelOptions {
  session: MuxSession;
  clusterId: string;
  epoch: number;
  tokenHash: string;
}

/** The tunnel of one cluster's agent, with its pool of idle connections. */
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

  /** Opens a connection to the service. Throws a `MuxError` on failure. */
  open(request: TunnelRequest): MuxStream {
    return this.session.open(encodeTunnelRequest(request));
  }

  /**
   * Connections for exchanges that `relayPlain` may retry. A forward's server may close a kept-alive connection just as
   * it is reused, so other exchanges must not share one.
   */
  plainConnectionsFor(request: TunnelRequest): PlainConnections {
    const idleMs = request.service === KUBERNETES_SERVICE ? KUBERNETES_IDLE_MS : FORWARD_IDLE_MS;
    return pooled(this.#plainPools, keyOf(request), () => new PlainConnections(() => this.open(request), idleMs));
  }

  /**
   * Connections for all other exchanges: a new one each time, except to the API server, where our own agent keeps them
   * open.
   */
  connectionsFor(request: TunnelRequest): StreamAgent {
    if (!isAnsweredByAgent(request)) return new StreamAgent(() => this.open(request), 0);
    return pooled(this.#pools, keyOf(request), () => new StreamAgent(() => this.open(request), KUBERNETES_IDLE_MS));
  }
}

function isAnsweredByAgent({ service }: TunnelRequest): boolean {
  return service === KUBERNETES_SERVICE || service === SANDBOXES_SERVICE;
}

/** Users never share a connection to the API server. */
function keyOf({ service, role, user }: TunnelRequest): string {
  return service === KUBERNETES_SERVICE ? `${service} ${role} ${user}` : service;
}

function pooled<Pool>(pools: Map<string, Pool>, key: string, create: () => Pool): Pool {
  const known = pools.get(key);
  if (known !== undefined) return known;
  if (pools.size >= MAX_POOLS) pools.clear(); // the idle connections in them time out
  const pool = create();
  pools.set(key, pool);
  return pool;
}
