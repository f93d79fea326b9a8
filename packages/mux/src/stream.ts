import { Duplex } from 'node:stream';
import type { BlockMemory, LendingStream } from '@svc/bytes';
import { SendCredit } from '@svc/link';
import { MUX_CODES, MuxError, ProtocolViolation } from './errors.ts';
import { appendData, encodeFrame, FRAME, INITIAL_WINDOW_BYTES, MAX_CREDIT_BYTES, MAX_DATA_BYTES } from './frames.ts';
import { ReceiveQueue } from './receive-queue.ts';
import type { ReceiveWindow } from './receive-window.ts';

/** A stream of a session. Its two directions end independently (`allowHalfOpen`). */
export interface MuxStream extends LendingStream {
  readonly id: number;
  /** Metadata sent by the side that opened the stream. */
  readonly metadata: Buffer;
  /**
   * Writes a copy of the bytes, so that their memory is free on return; for reused read buffers. Bulk data is sent
   * immediately, bypassing the Duplex queues. Returns false to pause until `drain`, like `write`.
   */
  writeCopy(bytes: Uint8Array): boolean;
  /** Ends both directions immediately and sends the reason; codes from 256 on are the application's. */
  reset(code: number, reason?: string): void;
}

/** What a stream requires of its session. */
export interface StreamOwner {
  readonly memory: BlockMemory;
  nowMs(): number;
  /** Null before the first measurement. */
  roundTripMs(): number | null;
  /** Requests a call of `emitFrames` when there is room to send. */
  wantsToSend(stream: SessionStream): void;
  grant(stream: SessionStream, creditBytes: number): void;
  /** Returns false, without sending, if something is queued ahead. */
  sendNow(stream: SessionStream, bytes: Buffer): boolean;
  /** Returns false if there is no room; `drain` follows. */
  hasRoom(stream: SessionStream): boolean;
  /** The stream ended on this side; `code` is null after a graceful end of both directions. */
  left(stream: SessionStream, code: number | null, reason: string): void;
}

/** Smaller writes wait for others in the same turn. */
const BULK_BYTES = 8 * 1024;
/** Smaller data would hold a mostly empty block while the peer does not read. */
const BLOCK_WORTHY_BYTES = 64 * 1024;

type Callback = (error?: Error | null) => void;

/** The stream as seen by its session. */
export class SessionStream extends Duplex implements MuxStream {
  readonly id: number;
  readonly metadata: Buffer;
  readonly isOwn: boolean;
  readonly #owner: StreamOwner;
  readonly #window: ReceiveWindow;
  readonly #received = new ReceiveQueue();
  /** Borrower of incoming bytes; null in normal reading mode. */
  #take: ((bytes: Buffer) => boolean) | null = null;
  #isWanted = false;
  #finReceived = false;
  readonly #credit = new SendCredit(INITIAL_WINDOW_BYTES, MAX_CREDIT_BYTES);
  #outgoing: Buffer[] = [];
  #outgoingFirst = 0;
  #outgoingBytes = 0;
  #onWritten: Callback | null = null;
  #onFinished: Callback | null = null;
  #finSent = false;

  constructor(owner: StreamOwner, window: ReceiveWindow, stream: { id: number; metadata: Buffer; isOwn: boolean }) {
    super({ allowHalfOpen: true });
    this.#owner = owner;
    this.#window = window;
    this.id = stream.id;
    this.metadata = stream.metadata;
    this.isOwn = stream.isOwn;
    // A peer's reset must not crash the process if nothing listens; readers and writers still get it.
    this.on('error', () => undefined);
  }

  /** Received bytes not yet read. */
  get unreadBytes(): number {
    return this.#received.sizeBytes + this.readableLength;
  }

  get memory(): BlockMemory {
    return this.#owner.memory;
  }

  lend(take: (bytes: Buffer) => boolean): void {
    const early: Buffer[] = [];
    for (let chunk: unknown = this.read(); chunk instanceof Buffer; chunk = this.read()) early.push(chunk);
    this.#take = take;
    this.#received.borrowFrom(this.#owner.memory);
    this.resume(); // so that `end` is emitted
    const wantsMore = early.length === 0 || take(Buffer.concat(early));
    if (wantsMore) this.lendMore();
    else this.#isWanted = false;
  }

  lendMore(): void {
    if (!this.destroyed) this.#passQueued();
  }

  reset(code: number, reason = ''): void {
    this.destroy(new MuxError(code, reason));
  }

  writeCopy(bytes: Uint8Array): boolean {
    if (this.destroyed || this.writableEnded) return false;
    const directBytes = Math.min(bytes.length, this.#credit.leftBytes, MAX_DATA_BYTES);
    const isDirect =
      directBytes >= BULK_BYTES &&
      this.writableLength === 0 &&
      this.#owner.sendNow(this, Buffer.from(bytes.buffer, bytes.byteOffset, directBytes)); // a view
    if (isDirect) this.#credit.spend(directBytes);
    if (isDirect && directBytes === bytes.length) return this.#owner.hasRoom(this);
    const rest = isDirect ? bytes.subarray(directBytes) : bytes;
    if (rest.length < BLOCK_WORTHY_BYTES) return this.write(Buffer.from(rest));
    const copy = this.#owner.memory.gather([rest]);
    // Delayed: the callback runs just before the bytes are added to their batch.
    return this.write(copy.bytes, () => process.nextTick(copy.release));
  }

  // Received from the peer

  dataBegins(lengthBytes: number): void {
    if (this.#finReceived)
      throw new ProtocolViolation(MUX_CODES.PROTOCOL_ERROR, `data after the end of stream ${this.id}`);
    this.#window.spend(lengthBytes);
  }

  /** The slice's memory is reused after this returns. */
  receive(slice: Buffer): void {
    if (this.#isWanted && this.#received.sizeBytes === 0) this.#pass(this.#take === null ? Buffer.from(slice) : slice);
    else this.#received.push(slice);
  }

  receiveFin(): void {
    if (this.#finReceived) throw new ProtocolViolation(MUX_CODES.PROTOCOL_ERROR, `stream ${this.id} ends twice`);
    this.#finReceived = true;
    if (this.#received.sizeBytes === 0) this.push(null);
  }

  receiveCredit(bytes: number): void {
    if (bytes === 0 || !this.#credit.add(bytes)) {
      throw new ProtocolViolation(MUX_CODES.FLOW_CONTROL_ERROR, `a credit of ${bytes} bytes for stream ${this.id}`);
    }
    if (this.canSend()) this.#owner.wantsToSend(this);
  }

  // Sent to the peer

  canSend(): boolean {
    if (this.#outgoingBytes > 0) return this.#credit.leftBytes > 0;
    return this.#onWritten !== null || this.#onFinished !== null;
  }

  /** Moves at most `maxBytes` of queued data into frames. Returns the number of bytes. */
  emitFrames(chunks: Buffer[], maxBytes: number): number {
    const lengthBytes = Math.min(maxBytes, this.#credit.leftBytes, this.#outgoingBytes);
    if (lengthBytes > 0) {
      appendData(chunks, this.id, this.#takeOutgoing(lengthBytes), lengthBytes);
      this.#credit.spend(lengthBytes);
    }
    if (this.#outgoingBytes > 0) return lengthBytes;
    const written = this.#onWritten;
    this.#onWritten = null;
    written?.();
    const finished = this.#onFinished;
    if (finished !== null && this.#outgoingBytes === 0) {
      this.#onFinished = null;
      this.#finSent = true;
      chunks.push(encodeFrame(FRAME.FIN, this.id));
      finished();
    }
    return lengthBytes;
  }

  #takeOutgoing(lengthBytes: number): Buffer[] {
    const slices: Buffer[] = [];
    let missingBytes = lengthBytes;
    while (missingBytes > 0) {
      const first = this.#outgoing[this.#outgoingFirst];
      if (first === undefined) break;
      if (first.length <= missingBytes) {
        this.#outgoingFirst += 1;
        slices.push(first);
        missingBytes -= first.length;
      } else {
        slices.push(first.subarray(0, missingBytes));
        this.#outgoing[this.#outgoingFirst] = first.subarray(missingBytes);
        missingBytes = 0;
      }
    }
    this.#outgoingBytes -= lengthBytes;
    return slices;
  }

  // The Duplex

  override _read(): void {
    this.#passQueued();
  }

  #passQueued(): void {
    this.#isWanted = true;
    while (this.#isWanted) {
      const chunk = this.#received.shift();
      if (chunk === undefined) break;
      const isLent = this.#take !== null;
      this.#pass(chunk);
      if (isLent) this.#received.release(chunk);
    }
    if (this.#finReceived && this.#received.sizeBytes === 0 && !this.readableEnded) this.push(null);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Callback): void {
    this.#send([chunk], chunk.length, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: Callback): void {
    const buffers = chunks.map(({ chunk }) => chunk);
    this.#send(
      buffers,
      buffers.reduce((sum, buffer) => sum + buffer.length, 0),
      done,
    );
  }

  override _final(done: Callback): void {
    this.#onFinished = done;
    this.#owner.wantsToSend(this);
  }

  override _destroy(error: Error | null, done: Callback): void {
    const isComplete = this.#finSent && this.#finReceived;
    this.#take = null;
    this.#received.clear();
    this.#outgoing = [];
    this.#outgoingBytes = 0;
    this.#onWritten = null;
    this.#onFinished = null;
    this.#window.release();
    if (isComplete && error === null) this.#owner.left(this, null, '');
    else if (error instanceof MuxError) this.#owner.left(this, error.remote ? null : error.resetCode, error.reason);
    else this.#owner.left(this, error === null ? MUX_CODES.CANCELLED : MUX_CODES.INTERNAL_ERROR, '');
    done(error);
  }

  #send(buffers: Buffer[], lengthBytes: number, done: Callback): void {
    this.#outgoing = buffers;
    this.#outgoingFirst = 0;
    this.#outgoingBytes = lengthBytes;
    this.#onWritten = done;
    if (this.canSend()) this.#owner.wantsToSend(this);
  }

  #pass(chunk: Buffer): void {
    this.#isWanted = this.#take === null ? this.push(chunk) : this.#take(chunk);
    if (this.#finReceived || this.destroyed) return;
    const credit = this.#window.taken(chunk.length, this.#owner.nowMs(), this.#owner.roundTripMs());
    if (credit > 0) this.#owner.grant(this, credit);
  }
}
