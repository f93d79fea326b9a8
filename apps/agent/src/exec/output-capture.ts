import { isUtf8 } from 'node:buffer';
import { PROTOCOL_LIMITS, type CommandOutput, type ExecResult } from '@svc/protocol';
import type { Clock } from '@svc/runtime';

export type OutputStream = 'stdout' | 'stderr';

export interface OutputCaptureOptions {
  clock: Clock;
  /** Resolves when the piece is sent; rejects if it never will be. */
  send(piece: Omit<CommandOutput, 'command_id' | 'seq'>): Promise<void>;
  /** Send immediately instead of keeping short output for the result. */
  live: boolean;
  maxBytes: number;
  /** Called when too much output is waiting for the platform, and when there is room again. */
  hold(): void;
  release(): void;
}

interface Piece {
  stream: OutputStream;
  data: Buffer;
}

const INLINE_BYTES = 64 * 1024;
const HIGH_WATER_BYTES = 256 * 1024;

export type CapturedOutput = Pick<
  ExecResult,
  'stdout_bytes' | 'stderr_bytes' | 'truncated' | 'stdout' | 'stderr' | 'encoding'
>;

/**
 * Output of one process: kept for the result while both streams fit into 64 KiB, else sent in pieces as it arrives.
 * Output above the limit is read and dropped, so that the process still ends, and the result is marked as truncated.
 */
export class OutputCapture {
  readonly #options: OutputCaptureOptions;
  readonly #bytes: Record<OutputStream, number> = { stdout: 0, stderr: 0 };
  /** In order of arrival: all output while it is kept, else the pieces waiting to be sent. */
  #pieces: Piece[] = [];
  #waitingBytes = 0;
  readonly #carry: Record<OutputStream, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  #inline: boolean;
  #truncated = false;
  #held = false;
  #sending: Promise<void> | null = null;
  #cancelTimer: (() => void) | undefined;
  #lost = false;

  constructor(options: OutputCaptureOptions) {
    this.#options = options;
    this.#inline = !options.live;
  }

  add(stream: OutputStream, data: Buffer): void {
    const room = this.#options.maxBytes - this.#bytes.stdout - this.#bytes.stderr;
    const taken = data.subarray(0, Math.max(0, room));
    if (taken.length < data.length) this.#truncated = true;
    if (taken.length === 0 || this.#lost) return;
    this.#bytes[stream] += taken.length;
    this.#pieces.push({ stream, data: taken });
    this.#waitingBytes += taken.length;
    if (this.#inline && this.#bytes[stream] > INLINE_BYTES) this.#inline = false;
    if (this.#inline) return;
    if (this.#waitingBytes >= PROTOCOL_LIMITS.outputChunkSizeBytes) this.#flush();
    else this.#cancelTimer ??= this.#options.clock.setTimer(() => this.#flush(), PROTOCOL_LIMITS.outputFlushMs);
    if (this.#waitingBytes > HIGH_WATER_BYTES && !this.#held) {
      this.#held = true;
      this.#options.hold();
    }
  }

  /** Call after the last output: resolves when all of it has been sent or never will be. */
  async end(): Promise<CapturedOutput> {
    const { stdout: stdoutBytes, stderr: stderrBytes } = this.#bytes;
    const counts = { stdout_bytes: stdoutBytes, stderr_bytes: stderrBytes };
    if (this.#inline) return { ...counts, truncated: this.#truncated, ...this.#kept() };
    while (this.#pieces.length > 0 || this.#sending !== null) {
      this.#flush();
      await this.#sending;
    }
    for (const stream of ['stdout', 'stderr'] as const) await this.#sendCarry(stream);
    return { ...counts, truncated: this.#truncated || this.#lost };
  }

  #kept(): Pick<ExecResult, 'stdout' | 'stderr' | 'encoding'> {
    const whole = (stream: OutputStream): Buffer =>
      Buffer.concat(this.#pieces.filter((piece) => piece.stream === stream).map(({ data }) => data));
    const [stdout, stderr] = [whole('stdout'), whole('stderr')];
    const encoding = isUtf8(stdout) && isUtf8(stderr) ? 'utf8' : 'base64';
    return { stdout: stdout.toString(encoding), stderr: stderr.toString(encoding), encoding };
  }

  #flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#sending !== null || this.#pieces.length === 0) return;
    this.#sending = this.#sendAll()
      .catch(() => {
        this.#lost = true; // the command was cancelled while the platform was offline
        this.#pieces = [];
        this.#waitingBytes = 0;
      })
      .finally(() => {
        this.#sending = null;
        this.#relax();
      });
  }

  async #sendAll(): Promise<void> {
    while (this.#pieces.length > 0) {
      const { stream, data } = this.#take();
      const whole = Buffer.concat([this.#carry[stream], data]);
      const cut = incompleteTail(whole);
      this.#carry[stream] = whole.subarray(whole.length - cut);
      await this.#send(stream, whole.subarray(0, whole.length - cut));
      this.#relax();
    }
  }

  /** Takes as many pieces of one stream as fit into one message. */
  #take(): Piece {
    const stream = this.#pieces[0]?.stream ?? 'stdout';
    const taken: Buffer[] = [];
    let sizeBytes = 0;
    for (let next = this.#pieces[0]; next?.stream === stream; next = this.#pieces[0]) {
      const room = PROTOCOL_LIMITS.outputChunkSizeBytes - sizeBytes;
      if (room <= 0) break;
      const part = next.data.subarray(0, room);
      taken.push(part);
      sizeBytes += part.length;
      if (part.length === next.data.length) this.#pieces.shift();
      else next.data = next.data.subarray(room);
    }
    this.#waitingBytes -= sizeBytes;
    return { stream, data: Buffer.concat(taken) };
  }

  async #sendCarry(stream: OutputStream): Promise<void> {
    const rest = this.#carry[stream];
    this.#carry[stream] = Buffer.alloc(0);
    if (rest.length === 0 || this.#lost) return;
    await this.#send(stream, rest).catch(() => (this.#lost = true));
  }

  async #send(stream: OutputStream, data: Buffer): Promise<void> {
    if (data.length === 0) return;
    const encoding = isUtf8(data) ? 'utf8' : 'base64';
    await this.#options.send({ stream, encoding, data: data.toString(encoding) });
  }

  #relax(): void {
    if (!this.#held || this.#waitingBytes > HIGH_WATER_BYTES / 2) return;
    this.#held = false;
    this.#options.release();
  }
}

/** Number of bytes at the end that start an incomplete UTF-8 character: 0 to 3. */
function incompleteTail(data: Buffer): number {
  for (let back = 1; back <= Math.min(3, data.length); back += 1) {
    const byte = data[data.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue; // inside a character: its first byte is further back
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}
