import { Duplex } from 'node:stream';

const HEADER_BYTES = 8;
const STDOUT = 1;
const STDERR = 2;
/** An engine frame holds at most one pipe read. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
const MAX_COMPLAINT_CHARACTERS = 1000;

/**
 * The standard streams of a process run by the engine without a terminal, as one duplex stream: writes go to stdin,
 * reads come from stdout. The engine prefixes each piece with a header (type, three zeros, u32 length).
 */
export class ExecStream extends Duplex {
  readonly #socket: Duplex;
  #header = Buffer.alloc(0);
  #type = 0;
  #left = 0;
  #complaint = '';

  constructor(socket: Duplex, head: Buffer) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.once('end', () => this.push(null));
    socket.once('close', () => this.destroy());
    socket.once('error', (error: Error) => this.destroy(error));
    if (head.length > 0) this.#receive(head);
  }

  /** The beginning of its standard error. */
  get complaint(): string {
    return this.#complaint.trim();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#socket.write(chunk)) {
      done();
      return;
    }
    const go = (): void => {
      this.#socket.off('drain', go);
      this.#socket.off('close', go);
      done();
    };
    this.#socket.once('drain', go);
    this.#socket.once('close', go);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #receive(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0 && !this.destroyed) {
      if (this.#left === 0) {
        const wanted = HEADER_BYTES - this.#header.length;
        this.#header = Buffer.concat([this.#header, rest.subarray(0, wanted)]);
        rest = rest.subarray(wanted);
        if (this.#header.length < HEADER_BYTES) return;
        this.#type = this.#header.readUInt8(0);
        this.#left = this.#header.readUInt32BE(4);
        this.#header = Buffer.alloc(0);
        if (this.#left > MAX_FRAME_BYTES) this.destroy(new Error('the engine sent an impossible frame'));
        continue;
      }
      const piece = rest.subarray(0, this.#left);
      rest = rest.subarray(piece.length);
      this.#left -= piece.length;
      this.#take(piece);
    }
  }

  #take(piece: Buffer): void {
    if (this.#type === STDOUT) {
      if (!this.push(piece)) this.#socket.pause();
    } else if (this.#type === STDERR && this.#complaint.length < MAX_COMPLAINT_CHARACTERS) {
      this.#complaint += piece.toString('utf8').slice(0, MAX_COMPLAINT_CHARACTERS);
    }
  }
}
