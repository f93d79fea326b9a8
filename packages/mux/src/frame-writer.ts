import type { BlockMemory } from '@svc/bytes';
import { MUX_CODES, ProtocolViolation } from './errors.ts';
import { appendData } from './frames.ts';
import type { SessionStream } from './stream.ts';
import type { MuxTransport } from './transport.ts';

/** Bytes that one stream may send per turn. */
const TURN_BYTES = 32 * 1024;
/** Bytes passed to the transport at once; more would only queue there, ahead of every other stream. */
const BATCH_BYTES = 128 * 1024;
/** Control frames queued for a stalled transport. Beyond this, the peer keeps asking without reading. */
const MAX_CONTROL_BYTES = 2 * 1024 * 1024;

/**
 * Sends everything: control frames first, then streams in turn, batched once per tick. Takes nothing from a stream
 * while the transport is full, so that backpressure reaches the writer.
 */
export class FrameWriter {
  readonly #transport: MuxTransport;
  readonly #memory: BlockMemory;
  readonly #onWritten: (bytes: number) => void;
  #control: Buffer[] = [];
  #controlBytes = 0;
  /** Streams with data to send, in turn order. */
  readonly #ready = new Set<SessionStream>();
  /** Streams waiting for room, without data here. */
  readonly #waiting = new Set<SessionStream>();
  #isScheduled = false;
  #isFull = false;
  /** True while assembling a batch, whose streams may call the next writer. */
  #isGathering = false;
  #isClosed = false;

  constructor(transport: MuxTransport, memory: BlockMemory, onWritten: (bytes: number) => void) {
    this.#transport = transport;
    this.#memory = memory;
    this.#onWritten = onWritten;
  }

  /** Throws a `ProtocolViolation` if the peer reads nothing and keeps asking. */
  control(frame: Buffer): void {
    if (this.#isClosed) return;
    this.#control.push(frame);
    this.#controlBytes += frame.length;
    if (this.#controlBytes > MAX_CONTROL_BYTES)
      throw new ProtocolViolation(MUX_CODES.TIMEOUT, 'the other side does not read');
    this.#schedule();
  }

  ready(stream: SessionStream): void {
    if (this.#isClosed) return;
    this.#ready.add(stream);
    this.#schedule();
  }

  /** Sends a copy of the bytes immediately. Returns false, without any effect, if other streams would have to wait. */
  sendNow(streamId: number, bytes: Buffer): boolean {
    if (this.#isFull || this.#isClosed || this.#isGathering || this.#ready.size > 0) return false;
    const chunks = this.#control;
    appendData(chunks, streamId, [bytes], bytes.length);
    this.#control = [];
    this.#controlBytes = 0;
    this.#send(chunks);
    return true;
  }

  /** Returns whether the transport has room; otherwise the stream is notified when it does. */
  hasRoom(stream: SessionStream): boolean {
    if (this.#isFull) this.#waiting.add(stream);
    return !this.#isFull;
  }

  forget(stream: SessionStream): void {
    this.#ready.delete(stream);
    this.#waiting.delete(stream);
  }

  drained(): void {
    this.#isFull = false;
    this.#flush();
    if (this.#isFull) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const stream of waiting) stream.emit('drain');
  }

  /** Sends the last frame ahead of everything queued; accepts nothing afterwards. */
  close(last: Buffer): void {
    if (this.#isClosed) return;
    this.#control.push(last);
    this.#flushControl();
    this.abandon();
    this.#transport.end();
  }

  abandon(): void {
    this.#isClosed = true;
    this.#control = [];
    this.#controlBytes = 0;
    this.#ready.clear();
    this.#waiting.clear();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isFull) return;
    this.#isScheduled = true;
    process.nextTick(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (!this.#isFull && !this.#isClosed && (this.#control.length > 0 || this.#ready.size > 0)) {
      const chunks = this.#control;
      let bytes = this.#controlBytes;
      this.#control = [];
      this.#controlBytes = 0;
      this.#isGathering = true;
      for (const stream of this.#ready) {
        if (bytes >= BATCH_BYTES) break;
        this.#ready.delete(stream);
        bytes += stream.emitFrames(chunks, TURN_BYTES);
        if (stream.canSend()) this.#ready.add(stream); // at the end: the others take their turn first
      }
      this.#isGathering = false;
      this.#send(chunks);
    }
  }

  #flushControl(): void {
    if (this.#control.length > 0) this.#send(this.#control);
    this.#control = [];
    this.#controlBytes = 0;
  }

  #send(chunks: readonly Buffer[]): void {
    if (chunks.length === 0) return;
    const { bytes, release } = this.#memory.gather(chunks);
    this.#onWritten(bytes.length);
    if (!this.#transport.write(bytes, release)) this.#isFull = true;
  }
}
