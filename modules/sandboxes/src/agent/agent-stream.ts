import { setImmediate as nextTurn } from 'node:timers/promises';
import { MAX_DATA_BYTES, ProtocolViolation, STREAM_WINDOW_BYTES } from './frames.ts';

/** Grants are gathered up to this much, so that small reads do not each cost a frame. */
const GRANT_BATCH_BYTES = 32 * 1024;

export type Channel = 1 | 2;

/** How an operation ended: what it answered, or a code of PROTOCOL.md. `LOST` means that the connection went first. */
export type Outcome =
  | { readonly ok: true; readonly result: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly code: string; readonly message: string };

export interface StreamListener {
  /** Bytes count against the window until `consumed` is called for them. */
  data?(bytes: Buffer, channel: Channel): void;
  event?(event: Readonly<Record<string, unknown>>): void;
}

/** What a stream needs of its connection. */
export interface StreamCarrier {
  sendData(stream: number, bytes: Uint8Array): Promise<void>;
  sendControl(stream: number, message: unknown): void;
  sendCredit(stream: number, bytes: number): void;
  sendReset(stream: number): void;
}

/** One operation inside a sandbox: a command, a terminal, a transfer. */
export class AgentStream {
  readonly id: number;
  /** Resolves once, never rejects. */
  readonly outcome: Promise<Outcome>;
  readonly #carrier: StreamCarrier;
  readonly #listener: StreamListener;
  #settle: (outcome: Outcome) => void;
  #ended = false;
  #abandoned = false;
  #sendCredit = STREAM_WINDOW_BYTES;
  #creditWaiters: (() => void)[] = [];
  #unconsumedBytes = 0;
  #ungrantedBytes = 0;

  constructor(id: number, carrier: StreamCarrier, listener: StreamListener) {
    this.id = id;
    this.#carrier = carrier;
    this.#listener = listener;
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.outcome = promise;
    this.#settle = resolve;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Sends to stdin, in pieces, each when the helper has room for it. Resolves false when the stream is over. */
  async write(bytes: Uint8Array): Promise<boolean> {
    for (let offset = 0; offset < bytes.length;) {
      const piece = bytes.subarray(offset, offset + MAX_DATA_BYTES);
      if (!(await this.#takeCredit(piece.length + 1))) return false;
      await this.#carrier.sendData(this.id, piece);
      offset += piece.length;
    }
    return !this.#closed();
  }

  /** No more input follows. */
  finishInput(): void {
    this.control({ type: 'eof' });
  }

  control(message: Readonly<Record<string, unknown>>): void {
    if (!this.#closed()) this.#carrier.sendControl(this.id, message);
  }

  /** The receiver has passed on this many bytes of `data`; the helper may send as many again. */
  consumed(bytes: number): void {
    this.#unconsumedBytes = Math.max(0, this.#unconsumedBytes - bytes);
    this.#ungrantedBytes += bytes;
    if (this.#ungrantedBytes < GRANT_BATCH_BYTES || this.#closed()) return;
    this.#carrier.sendCredit(this.id, this.#ungrantedBytes);
    this.#ungrantedBytes = 0;
  }

  /** Nobody listens any more: the helper ends what runs. The outcome follows when it has. */
  abandon(): void {
    if (this.#closed()) return;
    this.#abandoned = true;
    this.#wakeWriters();
    this.#carrier.sendReset(this.id);
  }

  /** For the connection: a data frame arrived. */
  receiveData(payload: Buffer): void {
    const channel = payload[0];
    if (channel !== 1 && channel !== 2) throw new ProtocolViolation('a data frame names no channel');
    this.#unconsumedBytes += payload.length;
    if (this.#unconsumedBytes > STREAM_WINDOW_BYTES) throw new ProtocolViolation('a stream sent beyond its window');
    // The channel byte is consumed here; the listener counts only what it is given.
    this.consumed(1);
    if (this.#abandoned) this.consumed(payload.length - 1);
    else if (this.#listener.data !== undefined) this.#listener.data(payload.subarray(1), channel);
    else this.consumed(payload.length - 1);
  }

  /** For the connection: an event arrived. */
  receiveEvent(event: Readonly<Record<string, unknown>>): void {
    if (!this.#abandoned) this.#listener.event?.(event);
  }

  /** For the connection: the helper has consumed so much. */
  receiveCredit(bytes: number): void {
    this.#sendCredit += bytes;
    if (this.#sendCredit > STREAM_WINDOW_BYTES) throw new ProtocolViolation('the helper granted more than was sent');
    this.#wakeWriters();
  }

  /** For the connection: the operation is over. */
  end(outcome: Outcome): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#wakeWriters();
    this.#settle(outcome);
  }

  #closed(): boolean {
    return this.#ended || this.#abandoned;
  }

  async #takeCredit(bytes: number): Promise<boolean> {
    while (this.#sendCredit < bytes && !this.#closed()) {
      await new Promise<void>((resolve) => this.#creditWaiters.push(resolve));
    }
    if (this.#closed()) return false;
    this.#sendCredit -= bytes;
    if (this.#sendCredit === 0) await nextTurn(); // lets grants that already arrived be read
    return !this.#closed();
  }

  #wakeWriters(): void {
    const waiters = this.#creditWaiters;
    this.#creditWaiters = [];
    for (const wake of waiters) wake();
  }
}
