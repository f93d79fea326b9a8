import { ReceiveCredit, SendCredit } from '@svc/link';
import { MAX_DATA_BYTES, ProtocolViolation, STREAM_WINDOW_BYTES } from './frames.ts';

/** Used bytes are granted again in quarters of the window. */
const GRANT_SHARE = 0.25;

export type Channel = 1 | 2;

/**
 * How an operation ended: its result, or an error code of PROTOCOL.md. `LOST` means that the connection was lost first.
 */
export type Outcome =
  | { readonly ok: true; readonly result: Readonly<Record<string, unknown>> }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      /** The one at fault of several. */ readonly path?: string;
    };

export interface StreamListener {
  /** Bytes the helper may send before it needs more credit. Defaults to 256 KiB. */
  readonly windowBytes?: number;
  /** Maximum credit the helper may grant for input. Defaults to 256 KiB. */
  readonly inputWindowBytes?: number;
  /**
   * Receives output. The bytes count against the window until `consumed` is called for them. The buffer belongs to the
   * connection and is reused after the call, so copy what you keep.
   */
  data?(bytes: Buffer, channel: Channel): void;
  event?(event: Readonly<Record<string, unknown>>): void;
}

/** The connection, as seen by a stream. */
export interface StreamCarrier {
  /** The bytes must not change until they are sent. Returns a promise to await when the connection is congested. */
  sendData(stream: number, bytes: Uint8Array): Promise<void> | null;
  sendControl(stream: number, message: unknown): void;
  sendCredit(stream: number, bytes: number): void;
  sendReset(stream: number): void;
}

/** One operation inside a sandbox: a command, a terminal, a transfer. */
export class HelperStream {
  readonly id: number;
  /** Resolves once, never rejects. */
  readonly outcome: Promise<Outcome>;
  readonly #carrier: StreamCarrier;
  readonly #listener: StreamListener;
  readonly #output: ReceiveCredit;
  readonly #input: SendCredit;
  #settle: (outcome: Outcome) => void;
  #ended = false;
  #abandoned = false;

  constructor(id: number, carrier: StreamCarrier, listener: StreamListener) {
    this.id = id;
    this.#carrier = carrier;
    this.#listener = listener;
    this.#output = new ReceiveCredit(listener.windowBytes ?? STREAM_WINDOW_BYTES, GRANT_SHARE);
    this.#input = new SendCredit(STREAM_WINDOW_BYTES, listener.inputWindowBytes ?? STREAM_WINDOW_BYTES);
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.outcome = promise;
    this.#settle = resolve;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Sends input in pieces, each when the helper has granted credit for it. Resolves to false if the stream ended before all
   * was sent.
   * The bytes are not copied and must not change.
   */
  async write(bytes: Uint8Array): Promise<boolean> {
    for (let offset = 0; offset < bytes.length;) {
      const piece = bytes.subarray(offset, offset + MAX_DATA_BYTES);
      const costBytes = piece.length + 1;
      while (this.#input.leftBytes < costBytes && !this.#closed()) await this.#input.more();
      if (this.#closed()) return false;
      this.#input.spend(costBytes);
      const room = this.#carrier.sendData(this.id, piece);
      if (room !== null) await room;
      offset += piece.length;
    }
    return true;
  }

  /** Signals the end of input. */
  finishInput(): void {
    this.control({ type: 'eof' });
  }

  control(message: Readonly<Record<string, unknown>>): void {
    if (!this.#closed()) this.#carrier.sendControl(this.id, message);
  }

  /** Reports that the receiver has passed on this many bytes of `data`; the helper may send as many again. */
  consumed(bytes: number): void {
    const creditBytes = this.#output.use(bytes);
    if (creditBytes > 0 && !this.#closed()) this.#carrier.sendCredit(this.id, creditBytes);
  }

  /** Stops listening: the helper ends the operation, and the outcome follows. */
  abandon(): void {
    if (this.#closed()) return;
    this.#abandoned = true;
    this.#input.wake();
    this.#carrier.sendReset(this.id);
  }

  /** Called by the connection for a piece of a data frame that takes `costBytes` of the window. */
  receiveData(channel: number, bytes: Buffer, costBytes: number): void {
    if (channel !== 1 && channel !== 2) throw new ProtocolViolation('a data frame names no channel');
    if (!this.#output.spend(costBytes)) throw new ProtocolViolation('a stream sent beyond its window');
    // The channel byte is consumed here; the listener only counts the bytes it receives.
    const overheadBytes = costBytes - bytes.length;
    if (overheadBytes > 0) this.consumed(overheadBytes);
    if (this.#abandoned || this.#listener.data === undefined) this.consumed(bytes.length);
    else if (bytes.length > 0) this.#listener.data(bytes, channel);
  }

  /** Called by the connection for an event. */
  receiveEvent(event: Readonly<Record<string, unknown>>): void {
    if (!this.#abandoned) this.#listener.event?.(event);
  }

  /** Called by the connection when the helper has consumed this many bytes. */
  receiveCredit(bytes: number): void {
    if (!this.#input.add(bytes)) throw new ProtocolViolation('the helper granted more than was sent');
  }

  /** Called by the connection when the operation has ended. */
  end(outcome: Outcome): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#input.wake();
    this.#settle(outcome);
  }

  #closed(): boolean {
    return this.#ended || this.#abandoned;
  }
}
