import type { Duplex } from 'node:stream';
import { ReceiveCredit, SendCredit } from '@svc/link';
import {
  createFrameDecoder,
  dataFrameHead,
  encodeFrame,
  encodeJsonFrame,
  FrameType,
  ProtocolViolation,
  STREAM_WINDOW_BYTES,
  TRANSFER_WINDOW_BYTES,
} from '../domain/helper/frames.ts';
import { HELPER_PROTOCOL, parseObject, type HelperRequest } from '../domain/helper/helper-connection.ts';
import type { Channel, HelperStream, Outcome } from '../domain/helper/helper-stream.ts';
import type { EnteredSandbox } from './held-sandbox.ts';
import type { RelayedChannel } from './relay-path.ts';

/** Used input is granted again in quarters of the window, as the helper does. */
const GRANT_SHARE = 0.25;
/** Fits in what is left of the peer's window whenever it has read everything. */
const MAX_PIECE_BYTES = 64 * 1024;
/** Above this much unsent data, output waits in the sandbox. */
const FULL_BYTES = 512 * 1024;

/**
 * Serves one operation of a sandbox to another replica, in the protocol of the helper: for that replica, this side is a
 * helper. Flow control is that of the protocol in both directions, so nothing is buffered beyond its windows.
 */
export class StreamRelay {
  readonly #socket: Duplex;
  readonly #entered: EnteredSandbox;
  readonly #channel: RelayedChannel;
  readonly #input = new ReceiveCredit(STREAM_WINDOW_BYTES, GRANT_SHARE);
  readonly #output = new SendCredit(STREAM_WINDOW_BYTES, TRANSFER_WINDOW_BYTES);
  readonly #decoder = createFrameDecoder({
    frame: (type, id, payload) => this.#dispatch(type, id, payload),
    data: (id, channel, bytes, costBytes) => this.#receive(id, channel, bytes, costBytes),
  });
  #id = 0;
  #stream: HelperStream | null = null;
  #isAbandoned = false;
  #written: Promise<unknown> = Promise.resolve();
  #sent: Promise<void> = Promise.resolve();

  constructor(socket: Duplex, entered: EnteredSandbox, channel: RelayedChannel) {
    this.#socket = socket;
    this.#entered = entered;
    this.#channel = channel;
  }

  /** Greets the other replica, then relays until the socket is closed. */
  async run(): Promise<void> {
    const socket = this.#socket;
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => socket.destroy());
    socket.once('end', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => this.#decode(chunk));
    socket.write(encodeJsonFrame(FrameType.hello, 0, { protocol: HELPER_PROTOCOL, features: [] }));
    await closed;
    this.#stream?.abandon();
    this.#output.wake();
  }

  #decode(chunk: Buffer): void {
    try {
      this.#decoder.push(chunk);
    } catch {
      this.#socket.destroy(); // another replica never sends this
    }
  }

  #dispatch(type: number, id: number, payload: Buffer): void {
    if (type === FrameType.open) {
      this.#open(id, parseObject(payload));
      return;
    }
    const stream = this.#opened(id);
    switch (type) {
      case FrameType.control:
        this.#control(stream, parseObject(payload));
        return;
      case FrameType.credit:
        if (payload.length !== 4 || !this.#output.add(payload.readUInt32BE(0)))
          throw new ProtocolViolation('a credit frame is wrong');
        return;
      case FrameType.reset:
        // The other replica grants nothing more, and waits for the end.
        this.#isAbandoned = true;
        this.#output.wake();
        stream.abandon();
        return;
      default:
        throw new ProtocolViolation(`unknown frame type ${type}`);
    }
  }

  #open(id: number, asked: Readonly<Record<string, unknown>>): void {
    if (this.#stream !== null) throw new ProtocolViolation('a channel has one operation');
    this.#id = id;
    const windowBytes = this.#channel.kind === 'sftp' ? TRANSFER_WINDOW_BYTES : STREAM_WINDOW_BYTES;
    const stream = this.#entered.connection.start(requestOf(this.#channel, asked), {
      windowBytes,
      inputWindowBytes: windowBytes,
      data: (bytes, channel) => this.#send(Buffer.from(bytes), channel),
      event: (event) => this.#after(async () => this.#write(encodeJsonFrame(FrameType.control, id, event))),
    });
    this.#stream = stream;
    void stream.outcome.then((outcome) => this.#after(async () => this.#end(outcome)));
  }

  #opened(id: number): HelperStream {
    if (this.#stream === null || id !== this.#id)
      throw new ProtocolViolation('a frame names a stream that is not open');
    return this.#stream;
  }

  /** The end of the input follows the input; everything else acts at once, also if a program reads nothing. */
  #control(stream: HelperStream, message: Readonly<Record<string, unknown>>): void {
    this.#entered.used();
    if (message['type'] === 'eof') this.#written = this.#written.then(() => stream.control(message));
    else stream.control(message);
  }

  #receive(id: number, channel: number, bytes: Buffer, costBytes: number): void {
    const stream = this.#opened(id);
    if (channel !== 0 || !this.#input.spend(costBytes)) throw new ProtocolViolation('more input than was granted');
    this.#entered.used();
    const copy = Buffer.from(bytes); // the buffer belongs to the decoder
    this.#written = this.#written.then(() => stream.write(copy)).then(() => this.#grant(costBytes));
  }

  #grant(usedBytes: number): void {
    const grantBytes = this.#input.use(usedBytes);
    if (grantBytes === 0) return;
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(grantBytes);
    this.#write(encodeFrame(FrameType.credit, this.#id, payload));
  }

  #send(bytes: Buffer, channel: Channel): void {
    this.#after(async () => {
      for (let at = 0; at < bytes.length; at += MAX_PIECE_BYTES) {
        await this.#sendPiece(bytes.subarray(at, at + MAX_PIECE_BYTES), channel);
      }
      this.#stream?.consumed(bytes.length);
    });
  }

  async #sendPiece(piece: Buffer, channel: Channel): Promise<void> {
    const socket = this.#socket;
    const costBytes = piece.length + 1;
    const isOver = (): boolean => socket.destroyed || this.#isAbandoned;
    while (this.#output.leftBytes < costBytes && !isOver()) await this.#output.more();
    if (isOver()) return;
    this.#output.spend(costBytes);
    socket.cork();
    socket.write(dataFrameHead(this.#id, channel, piece.length));
    socket.write(piece);
    socket.uncork();
    if (socket.writableLength <= FULL_BYTES) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        socket.off('drain', done);
        socket.off('close', done);
        resolve();
      };
      socket.once('drain', done);
      socket.once('close', done);
    });
  }

  #end(outcome: Outcome): void {
    const { ok } = outcome;
    const payload = ok ? { result: outcome.result } : { error: { code: outcome.code, message: outcome.message } };
    this.#write(encodeJsonFrame(FrameType.end, this.#id, payload));
  }

  /**
   * In the order in which the helper sent it. A message of a hostile helper may be too large for a frame once it is encoded
   * again, which ends the relay.
   */
  #after(work: () => Promise<void>): void {
    this.#sent = this.#sent.then(work).catch(() => void this.#socket.destroy());
  }

  #write(frame: Buffer): void {
    if (!this.#socket.destroyed) this.#socket.write(frame);
  }
}

/** What the channel was authorized and recorded for, whatever the frame says. */
function requestOf(channel: RelayedChannel, asked: Readonly<Record<string, unknown>>): HelperRequest {
  if (channel.kind === 'port') return { op: 'port.dial', port: channel.port };
  return channel.kind === 'sftp' ? { op: 'sftp' } : { ...asked, op: 'process.start' };
}
