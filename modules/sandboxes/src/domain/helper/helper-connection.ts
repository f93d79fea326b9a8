import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { sandboxErrors } from '../../errors.ts';
import { HelperStream, type Outcome, type StreamCarrier, type StreamListener } from './helper-stream.ts';
import {
  createFrameDecoder,
  dataFrameHead,
  encodeDataFrame,
  encodeFrame,
  encodeJsonFrame,
  fitsInFrame,
  FrameType,
  ProtocolViolation,
  STREAM_WINDOW_BYTES,
} from './frames.ts';

export const HELPER_PROTOCOL = 1;
const MAX_STREAMS = 256;
const MAX_FEATURES = 64;
/** Limit of the send backlog; above it, nothing more is sent to a helper that does not read. */
const MAX_BACKLOG_BYTES = 4 * 1024 * 1024;
/** Above this send backlog, data waits for the helper to read. */
const FULL_BACKLOG_BYTES = 512 * 1024;
/** Smaller payloads are copied behind their header, because one write costs less than two. */
const COPIED_BYTES = 4 * 1024;
/**
 * Holds everything a helper's socket can buffer. Shared by all connections, because each read is passed on before the
 * next one.
 */
const RECEIVED = Buffer.allocUnsafeSlow(256 * 1024);
/** The longest path of Linux. */
const MAX_ERROR_PATH = 4096;
/** What a helper serves. */
type Served = 'sandbox' | 'volume';

/** How operations end that a connection no longer carries. */
const LOST: Readonly<Record<Served, Outcome>> = {
  sandbox: { ok: false, code: 'LOST', message: 'the connection to the sandbox was lost' },
  volume: { ok: false, code: 'VOLUME_LOST', message: 'the connection to the files of the volume was lost' },
};

/** What was added after the first version of PROTOCOL.md. */
export type HelperFeature = 'processes' | 'users' | 'attributes' | 'compose' | 'pause' | 'root';

/** An operation of PROTOCOL.md and its parameters. */
export type HelperRequest = { readonly op: string } & Readonly<Record<string, unknown>>;

/**
 * The platform's side of a connection to a helper. All input from the helper is validated: on the first violation the
 * connection is cut and every stream ends as lost.
 */
export class HelperConnection implements StreamCarrier {
  /** Resolves when the connection has ended, with the violation if the helper caused one. */
  readonly closed: Promise<ProtocolViolation | null>;
  /** The outcome of operations after the connection is lost. */
  readonly lostOutcome: Outcome;
  readonly #socket: Duplex;
  readonly #decoder = createFrameDecoder({
    frame: (type, stream, payload) => this.#dispatch(type, stream, payload),
    data: (stream, channel, bytes, costBytes) => this.#stream(stream).receiveData(channel, bytes, costBytes),
  });
  readonly #streams = new Map<number, HelperStream>();
  readonly #greeted: (error: Error | null) => void;
  #features: ReadonlySet<string> = new Set();
  #nextStream = 1;
  #hello = false;
  #violation: ProtocolViolation | null = null;
  #pings: (() => void)[] = [];
  #drained: Promise<void> | null = null;

  private constructor(socket: Duplex, served: Served, greeted: (error: Error | null) => void) {
    this.#socket = socket;
    this.lostOutcome = LOST[served];
    this.#greeted = greeted;
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#lose();
        greeted(this.#violation ?? new Error('the helper closed the connection'));
        resolve(this.#violation);
      });
    });
    socket.on('error', () => socket.destroy()); // `close` follows and reports it
  }

  /** Resolves after the helper's hello. Rejects if the helper cannot be reached before the signal aborts. */
  static async open(socketPath: string, signal: AbortSignal, served: Served = 'sandbox'): Promise<HelperConnection> {
    signal.throwIfAborted();
    let receive = (_chunk: Buffer): void => undefined;
    const onread = {
      buffer: RECEIVED,
      callback: (sizeBytes: number) => {
        receive(RECEIVED.subarray(0, sizeBytes));
        return true;
      },
    };
    const socket = connect({ path: socketPath, onread });
    return HelperConnection.#greet(socket, served, signal, (take) => (receive = take));
  }

  /**
   * Like `open`, over an existing byte stream to the helper. The connection owns the stream from then on, even if this
   * rejects.
   */
  static async over(socket: Duplex, signal: AbortSignal): Promise<HelperConnection> {
    return HelperConnection.#greet(socket, 'sandbox', signal, (take) => void socket.on('data', take));
  }

  static async #greet(
    socket: Duplex,
    served: Served,
    signal: AbortSignal,
    listen: (take: (chunk: Buffer) => void) => void,
  ): Promise<HelperConnection> {
    const abort = (): void => void socket.destroy();
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await new Promise<HelperConnection>((resolve, reject) => {
        const connection = new HelperConnection(socket, served, (error) => {
          if (error === null) resolve(connection);
          else reject(error);
        });
        listen((chunk) => connection.#receive(chunk));
      });
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  get lost(): boolean {
    return this.#socket.destroyed;
  }

  /** Starts an operation. If the connection is lost or full, or the request too large, returns a stream that has ended. */
  start(request: HelperRequest, listener: StreamListener = {}): HelperStream {
    const { windowBytes = STREAM_WINDOW_BYTES } = listener;
    const stream = new HelperStream(this.#nextStream, this, listener);
    this.#nextStream = (this.#nextStream % 0x7fff_ffff) + 1;
    if (this.#socket.destroyed) {
      stream.end(this.lostOutcome);
    } else if (this.#full() || this.#streams.has(stream.id)) {
      stream.end({ ok: false, code: 'LIMIT_REACHED', message: 'too many operations in this sandbox at once' });
    } else if (!fitsInFrame(request)) {
      stream.end({ ok: false, code: 'INVALID_COMMAND', message: 'command and environment are too long' });
    } else {
      this.#streams.set(stream.id, stream);
      this.#socket.write(encodeJsonFrame(FrameType.open, stream.id, request));
      if (windowBytes > STREAM_WINDOW_BYTES) this.sendCredit(stream.id, windowBytes - STREAM_WINDOW_BYTES);
    }
    return stream;
  }

  /** Whether the helper has a feature of PROTOCOL.md. */
  has(feature: HelperFeature): boolean {
    return this.#features.has(feature);
  }

  /**
   * Throws HELPER_OUTDATED if the helper lacks a feature, because its sandbox was started by an earlier version. It would
   * ignore the parameters of the feature.
   */
  require(feature: HelperFeature): void {
    if (!this.has(feature)) throw sandboxErrors.HELPER_OUTDATED({ details: { feature } });
  }

  /** Runs an operation that only returns a result. */
  call(request: HelperRequest): Promise<Outcome> {
    return this.start(request).outcome;
  }

  /**
   * Resolves when the helper has responded, which proves that it is alive and reading. Rejects if the connection is
   * lost.
   */
  async ping(): Promise<void> {
    if (this.#socket.destroyed) throw new Error('the connection to the sandbox was lost');
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pings.push(resolve);
    this.#socket.write(encodeFrame(FrameType.ping, 0, Buffer.alloc(0)));
    await promise;
    if (this.#socket.destroyed) throw new Error('the connection to the sandbox was lost');
  }

  /** Cuts the connection. Processes in the sandbox that do not belong to a session end with it. */
  async close(): Promise<void> {
    this.#socket.destroy();
    await this.closed;
  }

  sendData(stream: number, bytes: Uint8Array): Promise<void> | null {
    const socket = this.#socket;
    if (bytes.length <= COPIED_BYTES) {
      socket.write(encodeDataFrame(stream, 0, bytes));
    } else {
      socket.cork();
      socket.write(dataFrameHead(stream, 0, bytes.length));
      socket.write(bytes);
      socket.uncork();
    }
    if (socket.writableLength <= FULL_BACKLOG_BYTES || socket.destroyed) return null;
    this.#drained ??= new Promise((resolve) => {
      const done = (): void => {
        socket.off('drain', done);
        socket.off('close', done);
        this.#drained = null;
        resolve();
      };
      socket.once('drain', done);
      socket.once('close', done);
    });
    return this.#drained;
  }

  sendControl(stream: number, message: unknown): void {
    if (this.#socket.writableLength <= MAX_BACKLOG_BYTES)
      this.#socket.write(encodeJsonFrame(FrameType.control, stream, message));
  }

  sendCredit(stream: number, bytes: number): void {
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(bytes);
    this.#socket.write(encodeFrame(FrameType.credit, stream, payload));
  }

  sendReset(stream: number): void {
    this.#socket.write(encodeFrame(FrameType.reset, stream, Buffer.alloc(0)));
  }

  #receive(chunk: Buffer): void {
    if (this.#socket.destroyed) return;
    try {
      this.#decoder.push(chunk);
    } catch (error) {
      // An exception in our own listener is our bug, but the helper's bytes triggered it: end the connection either
      // way.
      this.#violation = error instanceof ProtocolViolation ? error : new ProtocolViolation(String(error));
      this.#socket.destroy();
    }
  }

  #stream(id: number): HelperStream {
    if (!this.#hello) throw new ProtocolViolation('the helper did not greet first');
    const stream = this.#streams.get(id);
    if (stream === undefined) throw new ProtocolViolation('a frame names a stream that is not open');
    return stream;
  }

  #dispatch(type: number, id: number, payload: Buffer): void {
    if (type === FrameType.hello) {
      this.#handleHello(payload);
      return;
    }
    if (type === FrameType.pong && this.#hello) {
      this.#pings.shift()?.();
      return;
    }
    const stream = this.#stream(id);
    switch (type) {
      case FrameType.control:
        stream.receiveEvent(parseObject(payload));
        return;
      case FrameType.credit:
        if (payload.length !== 4) throw new ProtocolViolation('a credit frame has not four bytes');
        stream.receiveCredit(payload.readUInt32BE(0));
        return;
      case FrameType.end: {
        const outcome = parseOutcome(payload); // parsed before the stream is removed, because it may throw
        this.#streams.delete(id);
        stream.end(outcome);
        return;
      }
      default:
        throw new ProtocolViolation(`unknown frame type ${type}`);
    }
  }

  #handleHello(payload: Buffer): void {
    if (this.#hello) throw new ProtocolViolation('the helper greeted twice');
    const { protocol, features } = parseObject(payload);
    if (protocol !== HELPER_PROTOCOL) throw new ProtocolViolation('the helper speaks another protocol');
    if (Array.isArray(features)) this.#features = new Set(features.slice(0, MAX_FEATURES).map(String));
    this.#hello = true;
    this.#greeted(null);
  }

  #full(): boolean {
    return this.#streams.size >= MAX_STREAMS || this.#socket.writableLength > MAX_BACKLOG_BYTES;
  }

  #lose(): void {
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const stream of streams) stream.end(this.lostOutcome);
    const pings = this.#pings;
    this.#pings = [];
    for (const wake of pings) wake();
  }
}

/** Parses the payload of a frame. Throws ProtocolViolation. */
export function parseObject(payload: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString('utf8'));
  } catch {
    throw new ProtocolViolation('a frame is not valid JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ProtocolViolation('a frame is not a JSON object');
  }
  return value as Record<string, unknown>; // an object that is neither null nor an array
}

function parseOutcome(payload: Buffer): Outcome {
  const { result, error } = parseObject(payload);
  if (typeof error === 'object' && error !== null) {
    const { code, message, path } = error as Record<string, unknown>; // fields of a parsed JSON object, checked below
    if (typeof code !== 'string' || typeof message !== 'string') throw new ProtocolViolation('an error has no code');
    const at = typeof path === 'string' ? { path: path.slice(0, MAX_ERROR_PATH) } : {};
    return { ok: false, code: code.slice(0, 64), message: message.slice(0, 1000), ...at };
  }
  if (typeof result !== 'object' || result === null || Array.isArray(result)) {
    throw new ProtocolViolation('an end frame has neither result nor error');
  }
  return { ok: true, result: result as Record<string, unknown> }; // an object that is neither null nor an array
}
