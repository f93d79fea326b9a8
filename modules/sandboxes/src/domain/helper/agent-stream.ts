import { MAX_DATA_BYTES, ProtocolViolation, STREAM_WINDOW_BYTES } from './frames.ts';

/** Grants are gathered up to this part of the window, so that small reads do not each cost a frame. */
const GRANTS_OF_A_WINDOW = 4;

export type Channel = 1 | 2;

/** How an operation ended: what it answered, or a code of PROTOCOL.md. `LOST` means that the connection went first. */
export type Outcome =
  | { readonly ok: true; readonly result: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly code: string; readonly message: string };

export interface StreamListener {
  /** What the helper may send before it is granted more; 256 KiB unless told. */
  readonly windowBytes?: number;
  /** The most that the helper may grant in advance for what is sent to it; 256 KiB unless told. */
  readonly inputWindowBytes?: number;
  /**
   * Bytes count against the window until `consumed` is called for them. The buffer is the connection's own and is read into
   * again after the call: what is kept is copied.
   */
  data?(bytes: Buffer, channel: Channel): void;
  event?(event: Readonly<Record<string, unknown>>): void;
}

/** What a stream needs of its connection. */
export interface StreamCarrier {
  /** The bytes must stay as they are until they have left. A promise says that others have to wait first. */
  sendData(stream: number, bytes: Uint8Array): Promise<void> | null;
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
  readonly #windowBytes: number;
  readonly #inputWindowBytes: number;
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
    this.#windowBytes = listener.windowBytes ?? STREAM_WINDOW_BYTES;
    this.#inputWindowBytes = listener.inputWindowBytes ?? STREAM_WINDOW_BYTES;
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.outcome = promise;
    this.#settle = resolve;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Sends to stdin, in pieces, each when the helper has room for it. Resolves false when the stream is over. The bytes are
   * not copied: they must stay as they are.
   */
  async write(bytes: Uint8Array): Promise<boolean> {
    for (let offset = 0; offset < bytes.length;) {
      const piece = bytes.subarray(offset, offset + MAX_DATA_BYTES);
      const costBytes = piece.length + 1;
      while (this.#sendCredit < costBytes && !this.#closed()) await this.#moreCredit();
      if (this.#closed()) return false;
      this.#sendCredit -= costBytes;
      const room = this.#carrier.sendData(this.id, piece);
      if (room !== null) await room;
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
    if (this.#ungrantedBytes < this.#windowBytes / GRANTS_OF_A_WINDOW || this.#closed()) return;
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

  /** For the connection: a piece of a data frame arrived, which takes `costBytes` of the window. */
  receiveData(channel: number, bytes: Buffer, costBytes: number): void {
    if (channel !== 1 && channel !== 2) throw new ProtocolViolation('a data frame names no channel');
    this.#unconsumedBytes += costBytes;
    if (this.#unconsumedBytes > this.#windowBytes) throw new ProtocolViolation('a stream sent beyond its window');
    // The channel byte is consumed here; the listener counts only what it is given.
    const overheadBytes = costBytes - bytes.length;
    if (overheadBytes > 0) this.consumed(overheadBytes);
    if (this.#abandoned || this.#listener.data === undefined) this.consumed(bytes.length);
    else if (bytes.length > 0) this.#listener.data(bytes, channel);
  }

  /** For the connection: an event arrived. */
  receiveEvent(event: Readonly<Record<string, unknown>>): void {
    if (!this.#abandoned) this.#listener.event?.(event);
  }

  /** For the connection: the helper has consumed so much. */
  receiveCredit(bytes: number): void {
    this.#sendCredit += bytes;
    if (this.#sendCredit > this.#inputWindowBytes) throw new ProtocolViolation('the helper granted more than was sent');
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

  #moreCredit(): Promise<void> {
    return new Promise((resolve) => this.#creditWaiters.push(resolve));
  }

  #wakeWriters(): void {
    const waiters = this.#creditWaiters;
    this.#creditWaiters = [];
    for (const wake of waiters) wake();
  }
}
