import type { Writable } from 'node:stream';
import type { HelperConnection } from '../helper/helper-connection.ts';
import type { HelperStream } from '../helper/helper-stream.ts';
import { ProtocolViolation, TRANSFER_WINDOW_BYTES } from '../helper/frames.ts';
import { sandboxErrors } from '../../errors.ts';
import { parseEntry, record, type FileEntry } from './file-entry.ts';
import { resultOf } from './file-outcome.ts';
import { IncomingBytes } from './incoming-bytes.ts';
import type { Transfer } from './transfer-body.ts';

export interface ReadOptions {
  readonly offset?: number;
  /** Maximum number of bytes; absent: up to the file's size when it was opened. */
  readonly length?: number;
}

/**
 * A file that is being read. The helper sends no more than is consumed, so a slow client costs one window of memory.
 * Always call `close`, even if the file was not read to the end.
 */
export class FileReading implements AsyncDisposable, Transfer {
  readonly entry: FileEntry;
  /** Number of bytes that `chunks` yields, unless the file is truncated meanwhile. */
  readonly sizeBytes: number;
  readonly #stream: HelperStream;
  readonly #path: string;
  readonly #incoming: Incoming;
  readonly #end: () => void;

  private constructor(options: {
    stream: HelperStream;
    path: string;
    incoming: Incoming;
    entry: FileEntry;
    sizeBytes: number;
    end: () => void;
  }) {
    this.entry = options.entry;
    this.sizeBytes = options.sizeBytes;
    this.#stream = options.stream;
    this.#path = options.path;
    this.#incoming = options.incoming;
    this.#end = options.end;
  }

  static async open(
    connection: HelperConnection,
    path: string,
    options: ReadOptions,
    end: () => void,
  ): Promise<FileReading> {
    const incoming = new Incoming(options);
    const request = { op: 'file.read', path, offset: options.offset ?? 0, length: options.length };
    const stream = connection.start(request, {
      windowBytes: TRANSFER_WINDOW_BYTES,
      data: (bytes) => incoming.push(bytes),
      event: (event) => incoming.stat(event),
    });
    void stream.outcome.then(() => incoming.end());
    try {
      const entry = await incoming.entry;
      if (entry === null) {
        resultOf(await stream.outcome, path); // throws the failure
        throw sandboxErrors.FILE_OPERATION_FAILED({ details: { reason: 'the helper returned no file metadata' } });
      }
      return new FileReading({ stream, path, incoming, entry, sizeBytes: incoming.expectedBytes, end });
    } catch (error) {
      stream.abandon();
      end();
      throw error;
    }
  }

  /** Yields exactly `sizeBytes` bytes or throws; never silently fewer. Each chunk is valid until the next one. */
  async *chunks(): AsyncGenerator<Buffer, void> {
    yield* this.#incoming.chunks(this.#stream);
    await this.#assertWhole();
  }

  async writeTo(to: Writable): Promise<void> {
    await this.#incoming.writeTo(this.#stream, to);
    await this.#assertWhole();
  }

  close(): void {
    this.#stream.abandon();
    this.#end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  async #assertWhole(): Promise<void> {
    resultOf(await this.#stream.outcome, this.#path);
    if (this.#incoming.totalBytes < this.sizeBytes) {
      throw sandboxErrors.FILE_OPERATION_FAILED({ details: { reason: 'the file was truncated during the read' } });
    }
  }
}

/** The file's attributes arrive before its bytes; more bytes than announced are a protocol violation. */
class Incoming extends IncomingBytes {
  readonly entry: Promise<FileEntry | null>;
  readonly #options: ReadOptions;
  readonly #settleEntry: (entry: FileEntry | null) => void;
  #expectedBytes = 0;

  constructor(options: ReadOptions) {
    super();
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<FileEntry | null>();
    this.entry = promise;
    this.#settleEntry = resolve;
  }

  get expectedBytes(): number {
    return this.#expectedBytes;
  }

  stat(event: Readonly<Record<string, unknown>>): void {
    if (event['type'] !== 'stat') return;
    const entry = parseEntry(record(event['entry']));
    const { offset = 0, length } = this.#options;
    const leftBytes = Math.max(0, entry.sizeBytes - offset);
    this.#expectedBytes = Math.min(leftBytes, length ?? leftBytes);
    this.#settleEntry(entry);
  }

  override push(bytes: Buffer): void {
    super.push(bytes);
    if (this.totalBytes > this.#expectedBytes) throw new ProtocolViolation('the helper sent more than the file has');
  }

  override end(): void {
    super.end();
    this.#settleEntry(null); // no-op if the entry has arrived
  }
}
