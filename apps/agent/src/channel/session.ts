import { isAppError, toAppError, type AppError } from '@svc/errors';
import { Liveness, messageBytes, PeerErrors, SendQueue, sendText } from '@svc/link';
import {
  CLOSE_CODES,
  CONTROL_TYPES,
  PROTOCOL_LIMITS,
  PROTOCOL_TIMES,
  decodeEnvelope,
  encodeEnvelope,
  type AgentMessageType,
  type AgentPayloads,
  type CloseCode,
  type Envelope,
  type ErrorMessage,
  type Hello,
  type MessageDecoder,
  type PlatformMessage,
  type Welcome,
  MessageBudget,
  CONTRACT_RATE,
} from '@svc/protocol';
import type { RawData, WebSocket } from 'ws';
import { agentErrors } from '../errors.ts';
import type { Clock } from '@svc/runtime';

export interface SessionOptions {
  socket: WebSocket;
  /** The platform has announced a welcome; until it arrives, the mode is undecided. */
  announced: boolean;
  hello: Hello;
  clock: Clock;
  decoder: MessageDecoder<PlatformMessage>;
  newMessageId: () => string;
  handlers: SessionHandlers;
}

export interface SessionHandlers {
  /** Called for every message except `welcome` and `error`, in order. */
  message(message: PlatformMessage): void;
  /** Called for a known type whose payload violates its schema. */
  refused(envelope: Envelope, error: AppError): void;
  /** Called on the platform's welcome, in time or late. */
  welcomed(welcome: Welcome): void;
  /** Called when the platform could not use one of our messages. */
  peerError(code: string, message: string): void;
  pong(): void;
  sent(type: string): void;
  received(type: string): void;
}

/** `svc` after a welcome; `contract` without one: the platform knows only the contract's types. */
export type SessionMode = 'waiting' | 'svc' | 'contract';

export interface SessionEnd {
  code: number;
  reason: string;
}

const SEND_QUEUE_MESSAGES = 1024;
const MAX_MALFORMED = 50;
const CLOSE_GRACE_MS = 2000;
/** Minimum frame size; a smaller limit of the peer is ignored. */
const SMALLEST_FRAME_BYTES = 64 * 1024;

/** One connection from handshake to close: frames, rate, liveness, hello and welcome. */
export class Session {
  readonly #options: SessionOptions;
  readonly #queue: SendQueue;
  readonly #sendBudget: MessageBudget;
  readonly #receiveBudget: MessageBudget;
  readonly #liveness: Liveness;
  readonly #errors: PeerErrors<ErrorMessage>;
  readonly #introduced = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<SessionEnd>();
  #cancelWelcomeWait: () => void;
  #cancelPause: (() => void) | undefined;
  #cancelCut: (() => void) | undefined;
  #mode: SessionMode = 'waiting';
  #welcome: Welcome | null = null;
  #closing = false;
  #paused = false;
  #malformed = 0;

  constructor(options: SessionOptions) {
    const { socket, announced, clock } = options;
    this.#options = options;
    this.#sendBudget = new MessageBudget(CONTRACT_RATE, () => clock.nowMs());
    this.#receiveBudget = new MessageBudget({ ...CONTRACT_RATE, controlShare: 0 }, () => clock.nowMs());
    this.#queue = new SendQueue({
      budget: this.#sendBudget,
      clock,
      write: (text) => sendText(socket, text),
      onOverflow: () => {
        const reason = 'the platform does not read';
        this.close(CLOSE_CODES.tryAgainLater, reason);
        return agentErrors.UNAVAILABLE({ details: { reason } });
      },
      maxMessages: SEND_QUEUE_MESSAGES,
    });
    this.#errors = new PeerErrors(clock, (error) => this.#sendQuietly('error', error));
    this.#liveness = new Liveness({
      clock,
      pingIntervalMs: PROTOCOL_TIMES.pingIntervalMs,
      pongTimeoutMs: PROTOCOL_TIMES.pongTimeoutMs,
      ping: () => {
        if (socket.readyState === socket.OPEN) socket.ping();
      },
      ask: () => {
        if (this.#mode === 'svc') this.#sendQuietly('ping', {});
      },
      deaf: () => this.#paused,
      onDead: () => {
        this.close(CLOSE_CODES.timedOut, 'no answer to a ping');
        socket.terminate(); // a dead peer does not answer a close either
      },
    });
    this.#listen();
    this.#sendQuietly('hello', options.hello);
    this.#cancelWelcomeWait = announced
      ? clock.setTimer(() => this.close(CLOSE_CODES.tryAgainLater, 'no welcome'), PROTOCOL_TIMES.announcedTimeoutMs)
      : clock.setTimer(() => this.#introduce('contract'), PROTOCOL_TIMES.welcomeTimeoutMs);
  }

  get mode(): SessionMode {
    return this.#mode;
  }

  get welcome(): Welcome | null {
    return this.#welcome;
  }

  get closed(): boolean {
    return this.#closing;
  }

  /** Largest frame that may be sent, in UTF-8 bytes. */
  get frameSizeBytes(): number {
    const told = this.#welcome?.limits.frame_size_bytes ?? PROTOCOL_LIMITS.frameSizeBytes;
    return Math.max(SMALLEST_FRAME_BYTES, Math.min(told, PROTOCOL_LIMITS.frameSizeBytes));
  }

  /** Frames waiting for the rate or the network. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Settles once the peer is known, or when the connection ends before that. */
  get introduced(): Promise<void> {
    return this.#introduced.promise;
  }

  get ended(): Promise<SessionEnd> {
    return this.#ended.promise;
  }

  /** Resolves when the frame is written; rejects if the connection ends first or the frame is too large. */
  async send<Type extends AgentMessageType>(type: Type, payload: AgentPayloads[Type]): Promise<void> {
    const { clock, newMessageId, handlers } = this.#options;
    const timestamp = clock.now().toISOString();
    const text = encodeEnvelope({ type, id: newMessageId(), timestamp, payload }, this.frameSizeBytes);
    await this.#queue.send(text, CONTROL_TYPES.has(type));
    handlers.sent(type);
  }

  close(code: CloseCode, reason: string): void {
    if (this.#closing) return;
    const { socket, clock } = this.#options;
    this.#stop();
    socket.resume(); // a paused socket never reads the peer's close frame
    socket.close(code, reason);
    this.#cancelCut = clock.setTimer(() => socket.terminate(), CLOSE_GRACE_MS);
  }

  #listen(): void {
    const { socket, handlers } = this.#options;
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('ping', () => this.#liveness.heard());
    socket.on('pong', () => {
      this.#liveness.heard();
      handlers.pong();
    });
    socket.once('close', (code, reason) => {
      this.#stop();
      this.#cancelCut?.();
      this.#introduced.resolve();
      this.#ended.resolve({ code, reason: reason.toString() });
    });
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#liveness.heard();
    if (this.#closing) return;
    this.#slowDown();
    if (isBinary) {
      this.#reportMalformed('INVALID_REQUEST', 'Frames are JSON text', undefined);
      return;
    }
    let envelope: Envelope | undefined;
    try {
      envelope = decodeEnvelope(messageBytes(data).toString());
      const decoded = this.#options.decoder.check(envelope);
      if (!decoded.known) this.#reportUnknownType(envelope.type, envelope.id);
      else this.#dispatch(decoded.message);
    } catch (error) {
      const refusal = toAppError(error);
      if (!isAppError(error)) throw error;
      if (envelope === undefined) this.#reportMalformed(refusal.code, refusal.message, refusal.details);
      else this.#refuse(envelope, refusal);
    }
  }

  #reportUnknownType(type: string, messageId: string): void {
    this.#errors.report({
      code: 'UNKNOWN_MESSAGE_TYPE',
      message: `Messages of type ${type} are ignored`,
      details: { field: 'type', reason: 'unknown' },
      message_id: messageId,
    });
  }

  #dispatch(message: PlatformMessage): void {
    const { handlers } = this.#options;
    handlers.received(message.type);
    if (message.type === 'welcome') {
      if (this.#welcome !== null) return; // already welcomed
      this.#welcome = message.payload;
      const { messages_per_minute: perMinute, messages_burst: burst } = message.payload.limits;
      this.#sendBudget.setRate(Math.min(perMinute, CONTRACT_RATE.perMinute), Math.min(burst, CONTRACT_RATE.burst));
      handlers.welcomed(message.payload);
      this.#introduce('svc');
    } else if (message.type === 'ping') {
      this.#sendQuietly('pong', {});
    } else if (message.type === 'error') {
      handlers.peerError(message.payload.code, message.payload.message);
    } else {
      handlers.message(message);
    }
  }

  #refuse(envelope: Envelope, error: AppError): void {
    this.#options.handlers.refused(envelope, error);
    const { code, message, details } = error;
    this.#errors.report({ code, message, details, message_id: envelope.id });
  }

  #reportMalformed(code: string, message: string, details: Record<string, unknown> | undefined): void {
    this.#malformed += 1;
    this.#errors.report({ code, message, ...(details === undefined ? {} : { details }) });
    if (this.#malformed > MAX_MALFORMED) this.close(CLOSE_CODES.malformed, 'too many invalid frames');
  }

  /**
   * Above the rate, stops reading until there is room again: nothing is dropped, and backpressure reaches the sender.
   */
  #slowDown(): void {
    const waitMs = this.#receiveBudget.take(true);
    if (waitMs === 0 || this.#paused) return;
    const { socket, clock } = this.#options;
    this.#paused = true;
    socket.pause();
    this.#errors.report({
      code: 'RATE_LIMITED',
      message: 'Messages above the rate limit are delayed',
      details: { messages_per_minute: CONTRACT_RATE.perMinute, retry_after_ms: waitMs },
    });
    this.#cancelPause = clock.setTimer(() => {
      this.#paused = false;
      this.#liveness.heard();
      socket.resume();
    }, waitMs);
  }

  #introduce(mode: 'svc' | 'contract'): void {
    if (this.#mode === 'svc' || this.#closing) return; // a late welcome still counts
    this.#cancelWelcomeWait();
    this.#mode = mode;
    this.#introduced.resolve();
  }

  #sendQuietly<Type extends AgentMessageType>(type: Type, payload: AgentPayloads[Type]): void {
    this.send(type, payload).catch(() => undefined); // the connection's end is reported once, by `ended`
  }

  #stop(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#liveness.stop();
    this.#cancelWelcomeWait();
    this.#cancelPause?.();
    this.#queue.close(new Error('the connection to the platform ended'));
  }
}
