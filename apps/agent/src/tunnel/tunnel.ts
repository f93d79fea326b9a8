import { isAppError } from '@svc/errors';
import { MuxDialError, MuxSession, MUX_CODES, type MuxError, type MuxStream } from '@svc/mux';
import {
  decodeTunnelRequest,
  KUBERNETES_SERVICE,
  SANDBOXES_SERVICE,
  TUNNEL_CLOSE_CODES,
  TUNNEL_PATH,
  TUNNEL_STREAM_CODES,
  type ReconnectAdvice,
} from '@svc/protocol';
import { parseDurationMs } from '@svc/config';
import { redactText, type Logger } from '@svc/telemetry';
import { delayAfterClose } from '../channel/backoff.ts';
import { kindOfFailure, kindOfStatus } from '../channel/handshake.ts';
import { pause, type Clock } from '@svc/runtime';
import type { LiveConfig } from '../config/live-config.ts';
import type { ConnectionHealth, TunnelHealth } from '../health/health.ts';
import type { AgentMetrics } from '../metrics.ts';
import type { Limitations } from '../status/limitations.ts';
import type { TunnelDial } from './dial-tunnel.ts';
import { forwardStream } from './forward-stream.ts';
import type { KubernetesService } from './kubernetes-service.ts';

export interface AgentTunnelOptions {
  dial: TunnelDial;
  kubernetes: KubernetesService;
  config: LiveConfig;
  clock: Clock;
  random: () => number;
  log: Logger;
  metrics: AgentMetrics;
  limitations: Limitations;
}

const STABLE_MS = 60_000;
const TRAFFIC_EVERY_MS = 1000;
/** How long an unreachable service is reported. */
const UNREACHED_MS = 60_000;
/** Streams that the platform may have open at once; a stalled one holds only its window. */
const LIMITS = { maxIncomingStreams: 1024, maxOutgoingStreams: 0 };
const STOP_GRACE_MS = 2000;

/** The second connection to the platform: carries callers' traffic to services of this cluster. */
export class AgentTunnel {
  readonly #options: AgentTunnelOptions;
  /** The current session, and earlier ones that still carry streams after the platform asked for a new one. */
  readonly #sessions = new Set<MuxSession>();
  #current: MuxSession | null = null;
  #attempt = 0;
  #away: ConnectionHealth = { state: 'connecting', connectedUntilMs: null };
  #wake = new AbortController();
  /** Names of unreachable forwards, each with the function that cancels its timer. */
  readonly #forgetting = new Map<string, () => void>();

  constructor(options: AgentTunnelOptions) {
    this.#options = options;
    options.config.onChange(() => options.metrics.setTunnels(this.health.activeTunnels));
  }

  get health(): TunnelHealth {
    const { enabled } = this.#options.config.current.tunnel;
    if (this.#current === null) return { ...this.#away, enabled, activeTunnels: 0 };
    const connectedUntilMs = this.#options.clock.nowMs();
    return { enabled, state: 'connected', connectedUntilMs, activeTunnels: this.#serviceCount };
  }

  retryNow(): void {
    this.#wake.abort();
  }

  /** Runs until the signal aborts; then gives open streams a moment to end. */
  async run(signal: AbortSignal): Promise<void> {
    if (!this.#options.config.current.tunnel.enabled) return;
    while (!signal.aborted) {
      const advice = await this.#connectAndServe(signal);
      if (signal.aborted) break;
      const { random, config, clock } = this.#options;
      const { interval, max_interval: maximum } = config.current.svc.reconnect;
      const range = { minMs: Math.max(50, parseDurationMs(interval)), maxMs: Math.max(100, parseDurationMs(maximum)) };
      const delayMs = Math.max(delayAfterClose(advice.advice, this.#attempt, range, random), advice.atLeastMs);
      this.#attempt += 1;
      this.#wake = new AbortController();
      await pause(clock, delayMs, AbortSignal.any([signal, this.#wake.signal]));
    }
    await Promise.all([...this.#sessions].map((session) => session.drain(STOP_GRACE_MS)));
    for (const end of this.#forgetting.values()) end();
    this.#options.kubernetes.close();
  }

  get #serviceCount(): number {
    const { forwards, kubernetes } = this.#options.config.current.tunnel;
    return forwards.length + (kubernetes.enabled ? 1 : 0);
  }

  async #connectAndServe(signal: AbortSignal): Promise<Pause> {
    const { dial, clock, metrics, log } = this.#options;
    const startedMs = clock.nowMs();
    const tookSeconds = (): number => (clock.nowMs() - startedMs) / 1000;
    try {
      const { transport, kind } = await dial(signal);
      metrics.platformRequest('GET', TUNNEL_PATH, '101', tookSeconds());
      log.info({ kind }, 'the tunnel stands');
      return await this.#serve(transport, signal);
    } catch (error) {
      if (signal.aborted) return { advice: 'soon', atLeastMs: 0 };
      const refusal = error instanceof MuxDialError ? error : null;
      metrics.platformRequest('GET', TUNNEL_PATH, String(refusal?.status ?? 0), tookSeconds());
      const kind = kindOf(error);
      metrics.platformError(kind);
      const refused = kind === 'unauthorized' || kind === 'forbidden';
      this.#away = { ...this.#away, state: refused ? kind : 'disconnected' };
      const words = redactText(refusal?.body ?? '')
        .replaceAll(/\s+/g, ' ')
        .slice(0, 512);
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ status: refusal?.status, reason, answer: words }, 'no tunnel to the platform');
      return { advice: adviceOfStatus(refusal?.status ?? 0), atLeastMs: (refusal?.retryAfterSeconds ?? 0) * 1000 };
    }
  }

  /**
   * Serves until the connection ends or the platform asks for a new one: the old one then continues for its open
   * streams.
   */
  async #serve(transport: ConstructorParameters<typeof MuxSession>[0], signal: AbortSignal): Promise<Pause> {
    const { clock, log, metrics } = this.#options;
    const draining = Promise.withResolvers<'draining'>();
    const connectedAtMs = clock.nowMs();
    const session = new MuxSession(transport, {
      role: 'client',
      limits: LIMITS,
      onStream: (stream) => this.#accept(stream),
      onDraining: () => draining.resolve('draining'),
    });
    this.#sessions.add(session);
    this.#current = session;
    metrics.setTunnels(this.#serviceCount);
    const stopCounting = this.#countTraffic(session);
    const closed = session.closed.then((error) => {
      stopCounting();
      this.#sessions.delete(session);
      return error;
    });
    const stopped = Promise.withResolvers<'stopped'>();
    const stop = (): void => stopped.resolve('stopped');
    signal.addEventListener('abort', stop, { once: true });
    const end = await Promise.race([closed, draining.promise, stopped.promise]);
    signal.removeEventListener('abort', stop);
    if (this.#current === session) this.#current = null;
    this.#away = { state: stateAfterEnd(end), connectedUntilMs: clock.nowMs() };
    metrics.setTunnels(0);
    if (clock.nowMs() - connectedAtMs >= STABLE_MS) this.#attempt = 0;
    if (end === 'draining' || end === 'stopped') return { advice: 'immediately', atLeastMs: 0 };
    log.warn({ reason: end?.message ?? 'closed' }, 'the tunnel ended');
    return { advice: adviceOfEnd(end), atLeastMs: 0 };
  }

  #accept(stream: MuxStream): void {
    const { config, kubernetes } = this.#options;
    const request = decodeTunnelRequest(stream.metadata);
    const { forwards, kubernetes: offered } = config.current.tunnel;
    if (request === null) {
      stream.reset(TUNNEL_STREAM_CODES.malformed, 'the stream has no purpose header');
      return;
    }
    // Refuses by itself what the configuration does not allow, because a refusal of the stream has no room for a remedy.
    if (request.service === SANDBOXES_SERVICE) {
      kubernetes.accept(stream, request);
      return;
    }
    if (request.service === KUBERNETES_SERVICE && offered.enabled) {
      kubernetes.accept(stream, request);
      return;
    }
    const forward = forwards.find(({ name }) => name === request.service);
    if (forward === undefined) stream.reset(TUNNEL_STREAM_CODES.unknownService, 'no such forward is configured');
    else forwardStream(stream, forward.local_addr, (reason) => this.#dialled(forward.name, reason));
  }

  /** Reports an unreachable service as a limitation until it is reachable or has not been used for a while. */
  #dialled(name: string, reason: string | null): void {
    const { limitations, clock } = this.#options;
    const feature = `forward ${name}`;
    this.#forgetting.get(name)?.();
    this.#forgetting.delete(name);
    if (reason === null) return limitations.clear(feature);
    limitations.set(feature, reason, 'tunnel');
    this.#forgetting.set(
      name,
      clock.setTimer(() => this.#dialled(name, null), UNREACHED_MS),
    );
  }

  #countTraffic(session: MuxSession): () => void {
    const { clock, metrics } = this.#options;
    let before = { sentBytes: 0, receivedBytes: 0 };
    let cancel = (): void => undefined;
    const count = (): void => {
      const { traffic } = session;
      metrics.tunnelBytes(traffic.sentBytes - before.sentBytes, traffic.receivedBytes - before.receivedBytes);
      before = traffic;
    };
    const again = (): void => {
      count();
      cancel = clock.setTimer(again, TRAFFIC_EVERY_MS);
    };
    again();
    return () => {
      cancel();
      count();
    };
  }
}

interface Pause {
  advice: ReconnectAdvice;
  atLeastMs: number;
}

function kindOf(error: unknown): string {
  if (isAppError(error)) return 'token';
  if (!(error instanceof MuxDialError)) return 'connection';
  if (error.status !== 0) return kindOfStatus(error.status);
  return kindOfFailure(error.cause instanceof Error ? error.cause : error);
}

function adviceOfStatus(status: number): ReconnectAdvice {
  if (status === 401) return 'after-token-change';
  return status === 403 || status === 404 ? 'slowly' : 'soon';
}

function stateAfterEnd(end: MuxError | null | string): ConnectionHealth['state'] {
  const code = typeof end === 'string' ? undefined : end?.resetCode;
  if (code === TUNNEL_CLOSE_CODES.unauthorized) return 'unauthorized';
  return code === TUNNEL_CLOSE_CODES.forbidden ? 'forbidden' : 'disconnected';
}

function adviceOfEnd(end: MuxError | null): ReconnectAdvice {
  switch (end?.resetCode) {
    case TUNNEL_CLOSE_CODES.replaced:
    case TUNNEL_CLOSE_CODES.forbidden:
    case MUX_CODES.PROTOCOL_ERROR:
      return 'slowly';
    case TUNNEL_CLOSE_CODES.unauthorized:
      return 'after-token-change';
    default:
      return 'soon';
  }
}
