import { isAppError, type AppError } from '@svc/errors';
import { PeerErrors } from '@svc/link';
import {
  CLOSE_CODES,
  PROTOCOL_TIMES,
  decodeEnvelope,
  type AgentMessage,
  type ErrorMessage,
  type Hello,
  type MessageDecoder,
  type PlatformPayloads,
  CONTRACT_RATE,
  MessageBudget,
  type OutputAck,
} from '@svc/protocol';
import type { WebSocket } from 'ws';
import type { Introduction } from '../../domain/cluster.ts';
import type { Clock } from '@svc/runtime';
import { AgentConnection } from './agent-connection.ts';
import { ReceiveQueue } from './receive-queue.ts';

/** An agent keeps a number of unacknowledged pieces before it pauses; acknowledging at half of that is early enough. */
const GATHER_MS = 100;
const MAX_COMMANDS = 256;

/** Acknowledges output in few messages: the newest number of each command. */
class OutputAcks {
  readonly #clock: Clock;
  readonly #send: (ack: OutputAck) => void;
  readonly #newest = new Map<string, number>();
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock, send: (ack: OutputAck) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  arrived(commandId: string, seq: number): void {
    this.#newest.set(commandId, Math.max(seq, this.#newest.get(commandId) ?? 0));
    if (this.#newest.size >= MAX_COMMANDS) this.#flush();
    else this.#cancelTimer ??= this.#clock.setTimer(() => this.#flush(), GATHER_MS);
  }

  close(): void {
    this.#cancelTimer?.();
  }

  #flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const outputs = [...this.#newest].map(([commandId, seq]) => ({ command_id: commandId, seq }));
    this.#newest.clear();
    this.#send({ outputs });
  }
}

export interface AgentSessionOptions {
  socket: WebSocket;
  /** The agent has announced a hello; until it arrives, the agent is unknown. */
  announced: boolean;
  clusterId: string;
  epoch: number;
  tokenHash: string;
  clock: Clock;
  decoder: MessageDecoder<AgentMessage>;
  newMessageId: () => string;
  handlers: SessionHandlers;
}

/** Handles what a session decodes; implemented by `AgentMessages`. */
export interface SessionHandlers {
  /** Called once the peer is known: with its hello, or with null if it knows only the contract. */
  introduce(session: AgentSession, hello: Hello | null): Promise<void>;
  message(session: AgentSession, message: AgentMessage): Promise<void>;
  failed(session: AgentSession, error: unknown): void;
  closed(session: AgentSession, code: number): void;
}

/** Invalid frames count toward the rate like valid ones, so that sending them is not cheaper. */
type Received = { message: AgentMessage } | { report: () => void };

const PRIORITY_MESSAGES: ReadonlySet<string> = new Set(['hello', 'heartbeat', 'command_ack', 'ping', 'pong', 'error']);
const RECEIVE_QUEUE = { maxMessages: 512, maxSizeBytes: 4 * 1024 * 1024 } as const;

/** One connection from handshake to close: identifies the peer and handles its messages in order. */
export class AgentSession {
  readonly connection: AgentConnection;
  readonly #options: AgentSessionOptions;
  readonly #received: ReceiveQueue<Received>;
  readonly #errors: PeerErrors<ErrorMessage>;
  readonly #outputs: OutputAcks;
  #cancelHelloWait: () => void;
  #introduced: 'no' | 'contract' | 'svc' = 'no';

  constructor(options: AgentSessionOptions) {
    const { clock, announced } = options;
    this.#options = options;
    this.#received = new ReceiveQueue({
      budget: new MessageBudget(CONTRACT_RATE, () => clock.nowMs()),
      clock,
      handle: (received) => this.#handle(received),
      isPriority: (received) => 'message' in received && PRIORITY_MESSAGES.has(received.message.type),
      onLimited: (retryAfterMs) => this.#reportLimited(retryAfterMs),
      pause: () => this.connection.pause(),
      resume: () => this.connection.resume(),
      onError: (error) => this.#fail(error),
      ...RECEIVE_QUEUE,
    });
    this.connection = new AgentConnection({
      ...options,
      onText: (text) => this.#receive(text),
      onBinary: (sizeBytes) =>
        this.#received.push(
          { report: () => this.#errors.report({ code: 'INVALID_REQUEST', message: 'Frames are JSON text' }) },
          sizeBytes,
        ),
      onClosed: (code) => this.#closed(code),
      deaf: () => this.#received.paused,
    });
    this.#errors = new PeerErrors(clock, (error) => this.#sendQuietly('error', error));
    this.#outputs = new OutputAcks(clock, (ack) => {
      if (this.connection.instanceId !== null) this.#sendQuietly('output_ack', ack);
    });
    this.#cancelHelloWait = announced
      ? clock.setTimer(() => {
          void this.connection.close(CLOSE_CODES.tryAgainLater, 'no hello');
        }, PROTOCOL_TIMES.announcedTimeoutMs)
      : clock.setTimer(() => {
          this.#introduce(null).catch((error: unknown) => this.#fail(error));
        }, PROTOCOL_TIMES.welcomeTimeoutMs);
  }

  /** Acknowledged after a short delay, together with output that arrives meanwhile. */
  outputArrived(commandId: string, seq: number): void {
    this.#outputs.arrived(commandId, seq);
  }

  /** Resolves when the current message is handled. Queued messages are dropped; their sender still has them. */
  settled(): Promise<void> {
    return this.#received.close();
  }

  #receive(text: string): void {
    this.#received.push(this.#decode(text), text.length);
  }

  #decode(text: string): Received {
    let messageId: string | undefined;
    try {
      const envelope = decodeEnvelope(text);
      messageId = envelope.id;
      const decoded = this.#options.decoder.check(envelope);
      if (decoded.known) return { message: decoded.message };
      return { report: () => this.#reportUnknown(envelope.type, envelope.id) };
    } catch (error) {
      if (isAppError(error)) return { report: () => this.#reportInvalid(error, messageId) };
      throw error; // the decoder throws nothing else
    }
  }

  async #handle(received: Received): Promise<void> {
    if (this.connection.closed) return;
    if ('report' in received) {
      received.report();
      return;
    }
    const { message } = received;
    if (message.type === 'hello') {
      await this.#introduce(message.payload);
      return;
    }
    if (this.#introduced === 'no') await this.#introduce(null);
    await this.#options.handlers.message(this, message);
  }

  async #introduce(hello: Hello | null): Promise<void> {
    const wanted = hello === null ? 'contract' : 'svc';
    if (this.connection.closed || this.#introduced === 'svc' || this.#introduced === wanted) return;
    this.#introduced = wanted;
    this.#cancelHelloWait();
    this.connection.instanceId = hello?.instance_id ?? null;
    this.connection.isFirstConnection = (hello?.epoch ?? 1) === 1;
    this.connection.outboxId = hello?.outbox_id ?? this.connection.instanceId;
    await this.#options.handlers.introduce(this, hello);
  }

  /** Maps error codes of the protocol's catalogue to the codes used in messages. */
  #reportInvalid({ message, details }: AppError, messageId: string | undefined): void {
    this.#errors.report({
      code: 'INVALID_REQUEST',
      message: message.slice(0, 1024),
      details,
      ...(messageId === undefined ? {} : { message_id: messageId }),
    });
  }

  #reportUnknown(type: string, messageId: string): void {
    this.#errors.report({
      code: 'UNKNOWN_MESSAGE_TYPE',
      message: 'Messages of this type are ignored',
      details: { field: 'type', reason: `type ${type} is unknown` },
      message_id: messageId,
    });
  }

  #reportLimited(retryAfterMs: number): void {
    this.#errors.report({
      code: 'RATE_LIMITED',
      message: 'Messages above the rate limit are delayed',
      details: { messages_per_minute: CONTRACT_RATE.perMinute, retry_after_ms: retryAfterMs },
    });
  }

  #sendQuietly<Type extends 'error' | 'output_ack'>(type: Type, payload: PlatformPayloads[Type]): void {
    this.connection.send(type, payload).catch((reason: unknown) => {
      if (!this.connection.closed) this.#options.handlers.failed(this, reason);
    });
  }

  /** Nothing was acknowledged, so nothing is lost: the agent resends it over the next connection. */
  #fail(error: unknown): void {
    if (this.connection.closed) return;
    this.#options.handlers.failed(this, error);
    void this.connection.close(CLOSE_CODES.tryAgainLater, 'the message could not be stored');
  }

  #closed(code: number): void {
    this.#cancelHelloWait();
    this.#outputs.close();
    void this.#received.close();
    this.#options.handlers.closed(this, code);
  }
}

export function introductionOf(hello: Hello | null): Introduction {
  return {
    instanceId: hello?.instance_id ?? null,
    outboxId: hello?.outbox_id ?? hello?.instance_id ?? null,
    protocol: hello === null ? 'contract' : 'svc',
    agentVersion: hello?.agent_version ?? null,
    kubernetesVersion: hello?.kubernetes_version ?? null,
    capabilities: hello?.capabilities ?? ['deploy', 'exec', 'logs'],
  };
}
