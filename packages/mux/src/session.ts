import { BlockMemory } from '@svc/bytes';
import { FrameDecoder } from '@svc/link';
import { monotonicClock, type Clock } from '@svc/runtime';
import { MUX_CODES, MuxError, ProtocolViolation } from './errors.ts';
import { FrameWriter } from './frame-writer.ts';
import { decodeEnd, encodeEnd, encodeFrame, encodeWindow, FRAME, MAX_METADATA_BYTES, MUX_FRAMES } from './frames.ts';
import { DEFAULT_MUX_LIMITS, type MuxLimits } from './limits.ts';
import { Liveness } from './liveness.ts';
import { GrowthBudget, ReceiveWindow } from './receive-window.ts';
import { StreamTable } from './stream-table.ts';
import { SessionStream, type MuxStream, type StreamOwner } from './stream.ts';
import type { MuxTransport } from './transport.ts';

/** Options of a session. */
export interface MuxSessionOptions {
  /** The dialing side is the client; the two roles must differ. */
  role: 'client' | 'server';
  /** Receives a stream opened by the peer. Errors reset the stream. If absent, every stream is refused. */
  onStream?: (stream: MuxStream) => void;
  /** The peer sent GOAWAY: it accepts no more streams and closes when the open ones have ended. */
  onDraining?: () => void;
  limits?: Partial<MuxLimits>;
  /** Shared with other sessions of the process; defaults to its own. */
  memory?: BlockMemory;
  clock?: Pick<Clock, 'nowMs' | 'setTimer'>;
}

/** Multiplexes streams over one transport, which the session owns. PROTOCOL.md defines the wire format. */
export class MuxSession {
  /** Settles once when streams and transport are closed; null after a graceful end. */
  readonly closed: Promise<MuxError | null>;
  /** Settles with true when something arrives from the peer, and with false if the session ends before. */
  readonly heard: Promise<boolean>;
  readonly #transport: MuxTransport;
  readonly #options: MuxSessionOptions;
  readonly #limits: MuxLimits;
  readonly #clock: Pick<Clock, 'nowMs' | 'setTimer'>;
  readonly #table: StreamTable;
  readonly #memory: BlockMemory;
  readonly #writer: FrameWriter;
  readonly #liveness: Liveness;
  readonly #growth: GrowthBudget;
  readonly #owner: StreamOwner;
  #settleClosed: (error: MuxError | null) => void = () => undefined;
  #settleHeard: (hasHeard: boolean) => void = () => undefined;
  #whenEmpty: (() => void) | null = null;
  #cancelTimer: () => void = () => undefined;
  #isDraining = false;
  #isPeerDraining = false;
  #isOver = false;
  #error: MuxError | null = null;
  #receivedBytes = 0;
  #sentBytes = 0;

  constructor(transport: MuxTransport, options: MuxSessionOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#limits = { ...DEFAULT_MUX_LIMITS, ...options.limits };
    this.#clock = options.clock ?? monotonicClock;
    this.#table = new StreamTable(options.role);
    this.#growth = new GrowthBudget(this.#limits.windowGrowthBytes);
    this.#memory = options.memory ?? new BlockMemory();
    this.#writer = new FrameWriter(transport, this.#memory, (bytes) => (this.#sentBytes += bytes));
    this.closed = new Promise((resolve) => (this.#settleClosed = resolve));
    this.heard = new Promise((resolve) => (this.#settleHeard = resolve));
    void this.closed.then(() => this.#settleHeard(false));
    this.#liveness = new Liveness({
      clock: this.#clock,
      intervalMs: this.#limits.pingIntervalMs,
      timeoutMs: this.#limits.pongTimeoutMs,
      receivedBytes: () => this.#receivedBytes,
      sendPing: (payload) => this.#control(encodeFrame(FRAME.PING, 0, payload)),
      onDead: () => this.#abort(new MuxError(MUX_CODES.TIMEOUT, 'no sign of life')),
    });
    this.#owner = this.#createOwner();
    this.#start();
  }

  get streamCount(): number {
    return this.#table.size;
  }

  /** The shortest recent round trip in milliseconds; null before the first PONG. */
  get roundTripMs(): number | null {
    return this.#liveness.roundTripMs;
  }

  /** Bytes on the wire so far, control frames included. */
  get traffic(): { sentBytes: number; receivedBytes: number } {
    return { sentBytes: this.#sentBytes, receivedBytes: this.#receivedBytes };
  }

  /** Received bytes not yet read by any stream's consumer; never above the windows of the open streams. */
  get unreadBytes(): number {
    return this.#table.all().reduce((sum, stream) => sum + stream.unreadBytes, 0);
  }

  /** Whether `open` can succeed. */
  get acceptsStreams(): boolean {
    return !this.#isOver && !this.#isDraining && !this.#isPeerDraining;
  }

  /**
   * Opens a stream, which is writable immediately. Throws a `MuxError`: `GOING_AWAY` while either side drains,
   * `REFUSED` above the limit, `CONNECTION_LOST` after the session ended.
   */
  open(metadata: Uint8Array = new Uint8Array()): MuxStream {
    if (this.#isOver) throw new MuxError(MUX_CODES.CONNECTION_LOST, '');
    if (!this.acceptsStreams) throw new MuxError(MUX_CODES.GOING_AWAY, 'the connection drains');
    if (metadata.length > MAX_METADATA_BYTES)
      throw new RangeError(`metadata has ${metadata.length} bytes, at most ${MAX_METADATA_BYTES}`);
    if (this.#table.ownCount >= this.#limits.maxOutgoingStreams)
      throw new MuxError(MUX_CODES.REFUSED, 'too many streams');
    const id = this.#table.takeId();
    const stream = this.#createStream(id, Buffer.from(metadata), true);
    this.#control(encodeFrame(FRAME.OPEN, id, stream.metadata));
    return stream;
  }

  /**
   * Accepts no more streams, gives the open ones the grace period to end, then closes. Settles when the session is
   * over.
   */
  async drain(graceMs: number): Promise<void> {
    if (!this.#isOver && !this.#isDraining) {
      this.#isDraining = true;
      this.#control(encodeEnd(FRAME.GOAWAY, 0, MUX_CODES.GOING_AWAY, ''));
      let cancel = (): void => undefined;
      await new Promise<void>((resolve) => {
        cancel = this.#clock.setTimer(resolve, graceMs);
        this.#whenEmpty = resolve;
        if (this.#table.size === 0) resolve();
        void this.closed.then(() => resolve());
      });
      cancel();
      this.close();
    }
    await this.closed;
  }

  /**
   * Ends the session immediately; open streams end with `CONNECTION_LOST` on both sides. A code from 256 on tells the
   * peer the reason: its `closed` settles with that code.
   */
  close(code: number = MUX_CODES.CANCELLED, reason = ''): void {
    this.#finish(null, code, reason);
  }

  #start(): void {
    // A handler may end the session in the middle of a chunk; the rest is discarded.
    const find = (id: number): SessionStream | undefined => (this.#isOver ? undefined : this.#table.find(id));
    const decoder = new FrameDecoder(MUX_FRAMES, {
      dataBegins: (id, lengthBytes) => find(id)?.dataBegins(lengthBytes),
      data: (id, slice) => find(id)?.receive(slice),
      frame: (type, id, payload) => {
        if (!this.#isOver) this.#frame(type, id, payload);
      },
    });
    this.#transport.start({
      data: (chunk) => {
        if (this.#isOver) return;
        this.#receivedBytes += chunk.length;
        this.#settleHeard(true);
        this.#guarded(() => decoder.push(chunk));
      },
      drain: () => this.#guarded(() => this.#writer.drained()),
      end: (error) => this.#ended(error),
    });
    this.#liveness.start();
  }

  #createOwner(): StreamOwner {
    return {
      memory: this.#memory,
      nowMs: () => this.#clock.nowMs(),
      roundTripMs: () => this.#liveness.roundTripMs,
      wantsToSend: (stream) => this.#writer.ready(stream),
      grant: (stream, creditBytes) => this.#control(encodeWindow(stream.id, creditBytes)),
      sendNow: (stream, bytes) => this.#writer.sendNow(stream.id, bytes),
      hasRoom: (stream) => this.#writer.hasRoom(stream),
      left: (stream, code, reason) => {
        this.#writer.forget(stream);
        this.#table.remove(stream);
        if (code !== null) this.#control(encodeEnd(FRAME.RESET, stream.id, code, reason));
        if (this.#table.size === 0) this.#whenEmpty?.();
      },
    };
  }

  #createStream(id: number, metadata: Buffer, isOwn: boolean): SessionStream {
    const window = new ReceiveWindow(this.#growth, this.#limits.maxWindowBytes, this.#clock.nowMs());
    const stream = new SessionStream(this.#owner, window, { id, metadata, isOwn });
    this.#table.add(stream);
    return stream;
  }

  #frame(type: number, id: number, payload: Buffer): void {
    switch (type) {
      case FRAME.OPEN:
        return this.#accept(id, Buffer.from(payload));
      case FRAME.FIN:
        return this.#table.find(id)?.receiveFin();
      case FRAME.RESET: {
        const { code, reason } = decodeEnd(payload);
        return void this.#table.find(id)?.destroy(new MuxError(code, reason, { remote: true }));
      }
      case FRAME.WINDOW:
        return this.#table.find(id)?.receiveCredit(payload.readUInt32BE(0));
      case FRAME.PING:
        return this.#control(encodeFrame(FRAME.PONG, 0, payload));
      case FRAME.PONG:
        return this.#liveness.answered(payload);
      case FRAME.GOAWAY:
        return this.#goAway(decodeEnd(payload));
    }
  }

  #accept(id: number, metadata: Buffer): void {
    this.#table.takePeerId(id);
    const { onStream } = this.#options;
    if (this.#isDraining)
      return this.#control(encodeEnd(FRAME.RESET, id, MUX_CODES.GOING_AWAY, 'the connection drains'));
    if (onStream === undefined || this.#table.peerCount >= this.#limits.maxIncomingStreams) {
      return this.#control(encodeEnd(FRAME.RESET, id, MUX_CODES.REFUSED, 'too many streams'));
    }
    const stream = this.#createStream(id, metadata, false);
    try {
      onStream(stream);
    } catch (error) {
      stream.destroy(error instanceof Error ? error : new MuxError(MUX_CODES.INTERNAL_ERROR, ''));
    }
  }

  #goAway({ code, reason }: { code: number; reason: string }): void {
    const isOrderly = code === MUX_CODES.CANCELLED || code === MUX_CODES.GOING_AWAY;
    if (!isOrderly) return this.#abort(new MuxError(code, reason, { remote: true }));
    if (this.#isPeerDraining) return;
    this.#isPeerDraining = true;
    this.#options.onDraining?.();
  }

  #control(frame: Buffer): void {
    this.#guarded(() => this.#writer.control(frame));
  }

  /** A protocol violation ends the session, but nothing else in the process. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof ProtocolViolation) {
        this.#finish(error, error.resetCode, error.reason);
        return;
      }
      // A stream listener threw in the middle of a chunk, whose rest is lost, so no stream can continue.
      this.#finish(new MuxError(MUX_CODES.INTERNAL_ERROR, '', { cause: error }), MUX_CODES.INTERNAL_ERROR, '');
      throw error;
    }
  }

  /** The transport ended. */
  #ended(cause: Error | null): void {
    this.#cancelTimer();
    this.#transport.destroy();
    this.#writer.abandon();
    if (!this.#isOver) {
      this.#isOver = true;
      // After its GOAWAY, the peer may close at any time.
      if (!this.#isPeerDraining) {
        const reason = cause?.message ?? 'closed without a word';
        this.#error = new MuxError(MUX_CODES.CONNECTION_LOST, reason, cause === null ? {} : { cause });
      }
      this.#releaseStreams();
    }
    this.#settleClosed(this.#error);
  }

  /** Ends without GOAWAY: the peer is gone or sent its own. */
  #abort(error: MuxError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    this.#releaseStreams();
    this.#transport.destroy(); // emits the end, which settles `closed`
  }

  /** Ends with GOAWAY, then closes the transport; the peer has a limited time for that. */
  #finish(error: MuxError | null, code: number, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    this.#cancelTimer = this.#clock.setTimer(() => this.#transport.destroy(), this.#limits.closeTimeoutMs);
    this.#writer.close(encodeEnd(FRAME.GOAWAY, 0, code, reason));
    this.#releaseStreams();
  }

  #releaseStreams(): void {
    this.#liveness.stop();
    const reason = this.#error?.message ?? '';
    for (const stream of this.#table.all()) stream.destroy(new MuxError(MUX_CODES.CONNECTION_LOST, reason));
  }
}
