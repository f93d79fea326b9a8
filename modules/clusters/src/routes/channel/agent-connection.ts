import { Liveness, messageBytes, SendQueue, sendText } from '@svc/link';
import {
  CLOSE_CODES,
  CONTROL_TYPES,
  PROTOCOL_TIMES,
  encodeEnvelope,
  type CloseCode,
  type PlatformMessageType,
  type PlatformPayloads,
  CONTRACT_RATE,
  MessageBudget,
} from '@svc/protocol';
import type { RawData, WebSocket } from 'ws';
import type { AgentLink } from '../../domain/agent-link.ts';
import type { Clock } from '@svc/runtime';

export interface AgentConnectionOptions {
  socket: WebSocket;
  clusterId: string;
  epoch: number;
  /** Hash of the token used to connect: rotating a token closes the connections opened with it. */
  tokenHash: string;
  clock: Clock;
  newMessageId: () => string;
  /** Handles a text frame. */
  onText: (text: string) => void;
  /** Handles a frame that is not text; the channel uses JSON frames. */
  onBinary: (sizeBytes: number) => void;
  /** Called once, whichever side closed it. */
  onClosed: (code: number) => void;
  deaf: () => boolean;
}

const SEND_QUEUE_MESSAGES = 1024;
/** How long a peer may take to answer a close before the socket is terminated. */
const CLOSE_GRACE_MS = 2000;

/** The socket of one agent: frames, rate, liveness and close. The session interprets the messages. */
export class AgentConnection implements AgentLink {
  readonly clusterId: string;
  readonly epoch: number;
  readonly tokenHash: string;
  readonly connectedAtMs: number;
  /** Set by the session at hello. */
  instanceId: string | null = null;
  /** Set by the session at hello. */
  isFirstConnection = true;
  /** Set by the session at hello; identifies the sequence of the agent's events. */
  outboxId: string | null = null;
  readonly #options: AgentConnectionOptions;
  readonly #queue: SendQueue;
  readonly #liveness: Liveness;
  readonly #ended: Promise<void>;
  #closed = false;
  #cancelCut: (() => void) | undefined;

  constructor(options: AgentConnectionOptions) {
    const { socket, clock } = options;
    this.#options = options;
    this.clusterId = options.clusterId;
    this.epoch = options.epoch;
    this.tokenHash = options.tokenHash;
    this.connectedAtMs = clock.nowMs();
    this.#queue = new SendQueue({
      budget: new MessageBudget(CONTRACT_RATE, () => clock.nowMs()),
      clock,
      write: (text) => sendText(socket, text),
      onOverflow: () => {
        void this.close(CLOSE_CODES.tryAgainLater, 'you read too slowly');
        return new Error('the send queue is full');
      },
      maxMessages: SEND_QUEUE_MESSAGES,
    });
    this.#liveness = new Liveness({
      clock,
      pingIntervalMs: PROTOCOL_TIMES.pingIntervalMs,
      pongTimeoutMs: PROTOCOL_TIMES.pongTimeoutMs,
      ping: () => {
        if (socket.readyState === socket.OPEN) socket.ping();
      },
      ask: () => {
        if (this.instanceId !== null) this.send('ping', {}).catch(() => undefined); // reported on close
      },
      deaf: options.deaf,
      onDead: () => void this.close(CLOSE_CODES.timedOut, 'no answer to a ping'),
    });
    this.#ended = new Promise((resolve) => {
      socket.once('close', (code: number) => {
        this.#end();
        options.onClosed(code);
        resolve();
      });
    });
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('pong', () => this.#liveness.heard());
    socket.on('ping', () => this.#liveness.heard());
    // Oversized frames, invalid UTF-8 and resets: `ws` closes the socket and emits `close`.
    socket.on('error', () => undefined);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Resolves when the socket is closed by either side. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  async send<Type extends PlatformMessageType>(
    type: Type,
    payload: PlatformPayloads[Type],
    id?: string,
  ): Promise<void> {
    const { clock, newMessageId } = this.#options;
    const timestamp = clock.now().toISOString();
    const text = encodeEnvelope({ type, id: id ?? newMessageId(), timestamp, payload });
    await this.#queue.send(text, CONTROL_TYPES.has(type));
  }

  pause(): void {
    this.#options.socket.pause();
  }

  resume(): void {
    this.#liveness.heard();
    this.#options.socket.resume();
  }

  /** Resolves when the socket is closed. */
  close(code: CloseCode, reason: string): Promise<void> {
    const { socket, clock } = this.#options;
    if (!this.#closed) {
      this.#end();
      socket.resume(); // a paused socket would never read the peer's close frame
      socket.close(code, reason);
      this.#cancelCut = clock.setTimer(() => socket.terminate(), CLOSE_GRACE_MS);
    }
    return this.#ended;
  }

  supersede(): void {
    void this.close(CLOSE_CODES.replaced, 'a newer connection of this cluster took over');
  }

  /** Terminates the socket without a close frame. */
  async terminate(): Promise<void> {
    this.#options.socket.terminate();
    await this.#ended;
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#liveness.heard();
    if (this.#closed) return;
    const frame = messageBytes(data);
    if (isBinary) this.#options.onBinary(frame.length);
    else this.#options.onText(frame.toString());
  }

  #end(): void {
    this.#closed = true;
    this.#liveness.stop();
    this.#queue.close(new Error('the connection of the agent ended'));
    if (this.#options.socket.readyState === this.#options.socket.CLOSED) this.#cancelCut?.();
  }
}
