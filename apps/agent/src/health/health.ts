import type { Clock } from '@svc/runtime';

/** State of one part in `/readyz`. */
export type CheckState =
  | 'ok'
  | 'connecting'
  | 'disconnected'
  | 'unauthorized'
  | 'unreachable'
  | 'forbidden'
  | 'degraded'
  | 'shutting_down';

export type ComponentStatus = 'healthy' | 'degraded' | 'unhealthy';

/** Current state of a connection to the platform, without a grace period. */
export interface ConnectionHealth {
  state: 'connected' | 'connecting' | 'disconnected' | 'unauthorized' | 'forbidden';
  /** When it was last connected, in milliseconds since the Unix epoch; null before the first time. */
  connectedUntilMs: number | null;
}

export interface ChannelHealth extends ConnectionHealth {
  lastPingAt: Date | null;
  reconnects: number;
  lastError: { code: string; message: string; at: string } | null;
}

export interface KubernetesHealth {
  state: 'connecting' | 'ok' | 'unreachable' | 'unauthorized' | 'forbidden';
  version: string;
}

export interface TunnelHealth extends ConnectionHealth {
  enabled: boolean;
  activeTunnels: number;
}

export interface HealthSources {
  channel: () => ChannelHealth;
  kubernetes: () => KubernetesHealth;
  tunnel: () => TunnelHealth;
  /** True if a healthy part does less than it should. */
  degraded: (part: 'kubernetes' | 'tunnel') => boolean;
  /** Faults of the process itself, such as `event_loop_blocked`; empty if there are none. */
  processFaults: () => readonly string[];
}

export interface HealthOptions {
  sources: HealthSources;
  clock: Clock;
  startedAt: Date;
  /** A reconnect shorter than this keeps the agent ready. */
  reconnectGraceMs: number;
}

export interface Verdict {
  ok: boolean;
  body: Record<string, unknown>;
}

/**
 * The three health bodies. Liveness is about this process only: otherwise a kubelet would restart it whenever the
 * platform is down.
 */
export class Health {
  readonly #options: HealthOptions;
  #shuttingDown = false;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** From the first signal on, the agent should receive no new work. */
  beginShutdown(): void {
    this.#shuttingDown = true;
  }

  healthz(): Verdict {
    const reasons = this.#options.sources.processFaults();
    const timestamp = this.#timestamp();
    if (reasons.length === 0) return { ok: true, body: { status: 'ok', timestamp } };
    return { ok: false, body: { status: 'unhealthy', timestamp, reasons } };
  }

  readyz(): Verdict {
    const checks = {
      api_connection: this.#checkChannel(),
      kubernetes: this.#checkKubernetes(),
      tunnel: this.#checkTunnel(),
    };
    // Degraded counts as ready: otherwise an agent that deliberately lacks a right would never be ready.
    const ok = Object.values(checks).every((state) => state === 'ok' || state === 'degraded');
    return { ok, body: { status: ok ? 'ready' : 'not_ready', checks, timestamp: this.#timestamp() } };
  }

  livez(): Verdict {
    const { sources, clock, startedAt } = this.#options;
    const reasons = sources.processFaults();
    const ok = reasons.length === 0;
    const body = {
      status: ok ? 'alive' : 'dead',
      components: this.#components(),
      uptime_seconds: Math.max(0, Math.floor((clock.nowMs() - startedAt.getTime()) / 1000)),
    };
    return { ok, body: ok ? body : { ...body, reasons } };
  }

  #components(): Record<string, unknown> {
    const { sources } = this.#options;
    const channel = sources.channel();
    const tunnel = sources.tunnel();
    const kubernetes = sources.kubernetes();
    return {
      api_client: {
        status: connectionStatus(channel),
        last_ping: channel.lastPingAt?.toISOString() ?? null,
        state: channel.state,
        reconnects: channel.reconnects,
        ...(channel.lastError === null ? {} : { last_error: channel.lastError }),
      },
      tunnel_manager: {
        status: tunnelStatus(tunnel, sources.degraded('tunnel')),
        active_tunnels: tunnel.activeTunnels,
        state: tunnel.enabled ? tunnel.state : 'disabled',
      },
      kubernetes_client: {
        status: kubernetesStatus(kubernetes, sources.degraded('kubernetes')),
        cluster_reachable: kubernetes.state !== 'connecting' && kubernetes.state !== 'unreachable', // refusals count
      },
    };
  }

  #checkChannel(): CheckState {
    return this.#shuttingDown ? 'shutting_down' : this.#checkConnection(this.#options.sources.channel());
  }

  #checkKubernetes(): CheckState {
    if (this.#shuttingDown) return 'shutting_down';
    const { sources } = this.#options;
    const { state } = sources.kubernetes();
    return state === 'ok' && sources.degraded('kubernetes') ? 'degraded' : state;
  }

  #checkTunnel(): CheckState {
    if (this.#shuttingDown) return 'shutting_down';
    const { sources } = this.#options;
    const tunnel = sources.tunnel();
    if (!tunnel.enabled) return 'ok';
    return tunnel.state === 'connected' && sources.degraded('tunnel') ? 'degraded' : this.#checkConnection(tunnel);
  }

  #checkConnection({ state, connectedUntilMs }: ConnectionHealth): CheckState {
    if (state === 'connected') return 'ok';
    const away = connectedUntilMs === null ? Infinity : this.#options.clock.nowMs() - connectedUntilMs;
    const retrying = state === 'connecting' || state === 'disconnected';
    return retrying && away < this.#options.reconnectGraceMs ? 'ok' : state;
  }

  #timestamp(): string {
    return this.#options.clock.now().toISOString();
  }
}

function connectionStatus({ state }: ConnectionHealth): ComponentStatus {
  if (state === 'connected') return 'healthy';
  return state === 'connecting' ? 'degraded' : 'unhealthy';
}

function tunnelStatus(tunnel: TunnelHealth, degraded: boolean): ComponentStatus {
  if (!tunnel.enabled) return 'healthy'; // disabled on purpose
  return tunnel.state === 'connected' && degraded ? 'degraded' : connectionStatus(tunnel);
}

function kubernetesStatus({ state }: KubernetesHealth, degraded: boolean): ComponentStatus {
  if (state === 'ok') return degraded ? 'degraded' : 'healthy';
  return state === 'connecting' ? 'degraded' : 'unhealthy';
}
