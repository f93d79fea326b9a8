import { randomUUID } from 'node:crypto';
import { parseDurationMs } from '@svc/config';
import { isAppError, type AppError } from '@svc/errors';
import {
  CLOSE_CODES,
  reconnectAdvice,
  type AgentMessageType,
  type AgentPayloads,
  type Drain,
  type Envelope,
  type Hello,
  type MessageDecoder,
  type PlatformMessage,
  type Welcome,
} from '@svc/protocol';
import type { Logger } from '@svc/telemetry';
import { pause, type Clock } from '@svc/runtime';
import type { LiveConfig } from '../config/live-config.ts';
import { agentErrors } from '../errors.ts';
import type { ChannelHealth } from '../health/health.ts';
import type { AgentMetrics } from '../metrics.ts';
import { delayAfterClose } from './backoff.ts';
import { CHANNEL_PATH, type Dial } from './dial.ts';
import { HandshakeError } from './handshake.ts';
import { Session, type SessionEnd } from './session.ts';

export interface ChannelOptions {
  dial: Dial;
  config: LiveConfig;
  clock: Clock;
  random: () => number;
  decoder: MessageDecoder<PlatformMessage>;
  log: Logger;
  metrics: AgentMetrics;
  /** Fields of the hello, except those that the channel knows itself. */
  hello: () => Omit<Hello, 'epoch' | 'session_id'>;
  handlers: ChannelHandlers;
}

export interface ChannelHandlers {
  /** Called when a connection is open and the peer's protocol is known. */
  connected(session: Session): void;
  /** Called when the platform sends its welcome, in time or late. */
  welcomed(): void;
  message(session: Session, message: PlatformMessage): void;
  refused(session: Session, envelope: Envelope, error: AppError): void;
}

/** A connection that lasts this long is stable: the next failure starts with a short pause again. */
const STABLE_MS = 60_000;
/** After this many connections without a welcome, the platform may now be an older one that knows only the contract. */
const MOST_UNWELCOMED = 2;
/** Clock differences below this are not logged; a slow handshake adds a few seconds. */
const TOLD_SKEW_SECONDS = 60;

/** The connection to the platform, re-established for the agent's lifetime. */
export class PlatformChannel {
  readonly #options: ChannelOptions;
  #current: Session | null = null;
  #epoch = 0;
  #attempt = 0;
  #toldSkewSeconds = 0;
  #sessionId: string | undefined;
  #clusterId: string | undefined;
  /** The attempt to open another connection before this one ends. */
  #replacement: Promise<void> = Promise.resolve();
  /** Consecutive connections that ended without a welcome. */
  #unwelcomed = 0;
  #stopped: AbortSignal = AbortSignal.abort();
  #wake = new AbortController();
  #arrival = Promise.withResolvers<void>();
  #health: ChannelHealth = {
    state: 'connecting',
    lastPingAt: null,
    connectedUntilMs: null,
    reconnects: 0,
    lastError: null,
  };

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  get health(): ChannelHealth {
    const connected = this.#current !== null;
    return connected ? { ...this.#health, connectedUntilMs: this.#options.clock.nowMs() } : this.#health;
  }

  /** The current connection; null if there is none. */
  get session(): Session | null {
    return this.#current;
  }

  /** The cluster id assigned by the platform; undefined until the platform has sent it. */
  get clusterId(): string | undefined {
    return this.#clusterId;
  }

  /** Rejects with UNAVAILABLE if there is no connection. */
  send<Type extends AgentMessageType>(type: Type, payload: AgentPayloads[Type]): Promise<void> {
    if (this.#current === null) {
      return Promise.reject(agentErrors.UNAVAILABLE({ details: { reason: 'the platform is not connected' } }));
    }
    return this.#current.send(type, payload);
  }

  /** Resolves once there is a connection whose peer is known; rejects with the abort reason when the signal aborts. */
  async connected(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      while (this.#current === null || this.#current.closed || this.#current.mode === 'waiting') {
        await Promise.race([this.#arrival.promise, aborted.promise]);
      }
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Ends a pause early, after a change of token or configuration. */
  retryNow(): void {
    this.#wake.abort();
  }

  /** Runs until the signal aborts; then closes with `going away`. */
  async run(signal: AbortSignal): Promise<void> {
    this.#stopped = signal;
    while (!signal.aborted) {
      const session = await this.#connect(signal);
      const end = session === null ? null : await this.#serve(session, signal);
      if (signal.aborted) return;
      if (end !== null) await this.#pauseAfter(end, signal);
    }
  }

  async #connect(signal: AbortSignal): Promise<Session | null> {
    const { clock, metrics } = this.#options;
    const startedMs = clock.nowMs();
    try {
      const session = await this.#open(signal);
      metrics.platformRequest('GET', CHANNEL_PATH, '101', (clock.nowMs() - startedMs) / 1000);
      return session;
    } catch (error) {
      if (signal.aborted) return null;
      await this.#failed(error, startedMs, signal);
      return null;
    }
  }

  async #open(signal: AbortSignal): Promise<Session> {
    const { dial, clock, decoder, handlers, metrics, hello, log } = this.#options;
    const { socket, announced } = await dial(signal);
    this.#epoch += 1;
    const session: Session = new Session({
      socket,
      // A platform that has sent a welcome before will send it again, even behind a proxy that drops the announcement.
      announced: announced || (this.#sessionId !== undefined && this.#unwelcomed < MOST_UNWELCOMED),
      clock,
      decoder,
      newMessageId: () => `msg-${randomUUID()}`,
      hello: {
        ...hello(),
        epoch: this.#epoch,
        ...(this.#sessionId === undefined ? {} : { session_id: this.#sessionId }),
      },
      handlers: {
        message: (message) => this.#message(session, message),
        welcomed: (welcome) => this.#welcomed(welcome),
        refused: (envelope, error) => handlers.refused(session, envelope, error),
        peerError: (code, message) => log.warn({ code, reason: message }, 'the platform rejected a message'),
        pong: () => (this.#health = { ...this.#health, lastPingAt: clock.now() }),
        sent: (type) => metrics.messageSent(type),
        received: (type) => metrics.messageReceived(type),
      },
    });
    // Registered here rather than in #serve, because a successor exists before its predecessor ends.
    const stop = (): void => session.close(CLOSE_CODES.goingAway, 'the agent is stopping');
    signal.addEventListener('abort', stop, { once: true });
    void session.ended.then(() => signal.removeEventListener('abort', stop));
    if (signal.aborted) stop();
    return session;
  }

  /** Serves one connection to its end. A drain first opens the next one, whose end then counts. */
  async #serve(first: Session, signal: AbortSignal): Promise<SessionEnd> {
    const { clock, metrics, log, handlers } = this.#options;
    let session = first;
    for (;;) {
      this.#current = session;
      const connectedAtMs = clock.nowMs();
      this.#health = { ...this.#health, state: 'connected', lastPingAt: clock.now(), lastError: null };
      metrics.setConnected(true);
      await session.introduced;
      if (!session.closed) {
        log.info({ mode: session.mode, session_id: this.#sessionId }, 'connected to the platform');
        handlers.connected(session);
        this.#arrival.resolve();
        this.#arrival = Promise.withResolvers<void>();
      }
      const end = await session.ended;
      await this.#replacement; // the platform may end the old one as soon as it sees the new one
      if (session.welcome === null) this.#unwelcomed += 1;
      if (clock.nowMs() - connectedAtMs >= STABLE_MS) this.#attempt = 0;
      const successor = this.#current;
      if (successor !== session && successor !== null && !successor.closed) {
        session = successor;
        continue;
      }
      this.#disconnected(end, signal);
      return end;
    }
  }

  #welcomed(welcome: Welcome): void {
    this.#sessionId = welcome.session_id;
    this.#clusterId = welcome.cluster_id ?? this.#clusterId;
    this.#unwelcomed = 0;
    this.#compareClocks(welcome);
    this.#options.handlers.welcomed();
  }

  /** The clocks need not agree, but anyone comparing times of both sides must know the difference. */
  #compareClocks(welcome: Welcome): void {
    const { clock, metrics, log } = this.#options;
    const skewSeconds = Math.round((Date.parse(welcome.server_time) - clock.nowMs()) / 1000);
    if (Number.isNaN(skewSeconds)) return; // the schema allows a 99th month
    metrics.setClockSkew(skewSeconds);
    const told = Math.abs(skewSeconds - this.#toldSkewSeconds) < TOLD_SKEW_SECONDS;
    if (told) return;
    this.#toldSkewSeconds = skewSeconds;
    const fields = { clock_skew_seconds: skewSeconds };
    if (Math.abs(skewSeconds) < TOLD_SKEW_SECONDS) log.info(fields, 'the clock is in sync with the platform again');
    else log.warn(fields, 'the clocks of agent and platform differ; synchronize both with NTP');
  }

  #disconnected(end: SessionEnd, signal: AbortSignal): void {
    const { clock, metrics, log } = this.#options;
    this.#current = null;
    metrics.setConnected(false);
    if (signal.aborted) return;
    metrics.reconnect(String(end.code));
    this.#health = {
      ...this.#health,
      state: stateAfterClose(end.code),
      connectedUntilMs: clock.nowMs(),
      reconnects: this.#health.reconnects + 1,
      lastError: { code: `CLOSE_${end.code}`, message: end.reason, at: clock.now().toISOString() },
    };
    log.warn({ code: end.code, reason: end.reason }, 'the connection to the platform ended');
  }

  async #pauseAfter(end: SessionEnd, signal: AbortSignal): Promise<void> {
    const delayMs = delayAfterClose(reconnectAdvice(end.code), this.#attempt, this.#range(), this.#options.random);
    this.#attempt += 1;
    await this.#pause(delayMs, signal);
  }

  async #failed(error: unknown, startedMs: number, signal: AbortSignal): Promise<void> {
    const { clock, metrics, log, random } = this.#options;
    const refusal = error instanceof HandshakeError ? error : null;
    const kind = refusal?.kind ?? (isAppError(error) && error.code === 'TOKEN_MISSING' ? 'token' : 'connection');
    const message = error instanceof Error ? error.message : String(error);
    metrics.platformRequest('GET', CHANNEL_PATH, String(refusal?.status ?? 0), (clock.nowMs() - startedMs) / 1000);
    metrics.platformError(kind);
    this.#health = {
      ...this.#health,
      state: kind === 'unauthorized' ? 'unauthorized' : kind === 'forbidden' ? 'forbidden' : 'disconnected',
      lastError: { code: kind.toUpperCase(), message, at: clock.now().toISOString() },
    };
    const advice = kind === 'unauthorized' ? 'after-token-change' : kind === 'forbidden' ? 'slowly' : 'soon';
    const delayMs = Math.max(
      delayAfterClose(advice, this.#attempt, this.#range(), random),
      (refusal?.retryAfterSeconds ?? 0) * 1000 * (1 + random() * 0.25),
    );
    this.#attempt += 1;
    log.warn(
      { kind, status: refusal?.status, reason: message, retry_in_ms: Math.round(delayMs) },
      'no connection to the platform',
    );
    await this.#pause(delayMs, signal);
  }

  #message(session: Session, message: PlatformMessage): void {
    if (message.type === 'drain') this.#drain(session, message.payload);
    else this.#options.handlers.message(session, message);
  }

  /** Make before break: connects the successor, then closes the old connection. */
  #drain(session: Session, { reconnect_within_ms: withinMs, reason }: Drain): void {
    const { clock, random, log } = this.#options;
    log.info({ reason, within_ms: withinMs }, 'the platform asks for a new connection');
    const cancel = clock.setTimer(
      () => {
        this.#replacement = this.#replace(session).catch((error: unknown) => {
          log.warn({ err: error }, 'the second connection was refused; the first one stays open');
        });
      },
      Math.round(random() * withinMs),
    );
    void session.ended.then(cancel);
  }

  async #replace(session: Session): Promise<void> {
    if (session.closed) return;
    const successor = await this.#open(this.#stopped);
    await successor.introduced;
    if (successor.closed) return;
    if (this.#current !== session || this.#stopped.aborted) {
      successor.close(CLOSE_CODES.normal, 'not needed any more');
      return;
    }
    this.#current = successor;
    session.close(CLOSE_CODES.normal, 'drained');
  }

  #range(): { minMs: number; maxMs: number } {
    const { interval, max_interval: maximum } = this.#options.config.current.svc.reconnect;
    return { minMs: Math.max(50, parseDurationMs(interval)), maxMs: Math.max(100, parseDurationMs(maximum)) };
  }

  async #pause(delayMs: number, signal: AbortSignal): Promise<void> {
    this.#wake = new AbortController();
    await pause(this.#options.clock, delayMs, AbortSignal.any([signal, this.#wake.signal]));
  }
}

function stateAfterClose(code: number): ChannelHealth['state'] {
  if (code === CLOSE_CODES.unauthorized) return 'unauthorized';
  return code === CLOSE_CODES.forbidden ? 'forbidden' : 'disconnected';
}
