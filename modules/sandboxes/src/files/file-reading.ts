import type { AgentConnection } from '../agent/agent-connection.ts';
import type { AgentStream } from '../agent/agent-stream.ts';
import { ProtocolViolation } from '../agent/frames.ts';
import { ReceivedBytes } from '../agent/received-bytes.ts';
import { sandboxErrors } from '../errors.ts';
import { parseEntry, record, type FileEntry } from './file-entry.ts';
import { resultOf } from './file-outcome.ts';

export interface ReadOptions {
  readonly offset?: number;
  /** At most so many bytes; absent: to the end that the file had when it was opened. */
  readonly length?: number;
}

/**
 * A file that is being read. The helper sends no more than is taken here, so a slow client costs one window of memory.
 * It ends with `close`, also when nobody read to the end.
 */
export class FileReading implements AsyncDisposable {
  readonly entry: FileEntry;
  /** What `chunks` yields, unless the file is cut meanwhile. */
  readonly sizeBytes: number;
  readonly #stream: AgentStream;
  readonly #path: string;
  readonly #incoming: Incoming;
  readonly #end: () => void;

  private constructor(parts: {
    stream: AgentStream;
    path: string;
    incoming: Incoming;
    entry: FileEntry;
    sizeBytes: number;
    end: () => void;
  }) {
    this.entry = parts.entry;
    this.sizeBytes = parts.sizeBytes;
    this.#stream = parts.stream;
    this.#path = parts.path;
    this.#incoming = parts.incoming;
    this.#end = parts.end;
  }

  static async open(
    connection: AgentConnection,
    path: string,
    options: ReadOptions,
    end: () => void,
  ): Promise<FileReading> {
    const incoming = new Incoming();
    const request = { op: 'file.read', path, offset: options.offset ?? 0, length: options.length };
    const stream = connection.start(request, {
      data: (bytes) => incoming.push(bytes),
      event: (event) => incoming.stat(event),
    });
    void stream.outcome.then(() => incoming.end());
    try {
      const entry = await incoming.entry;
      if (entry === null) {
        resultOf(await stream.outcome, path); // throws what went wrong
        throw sandboxErrors.FILE_OPERATION_FAILED({ details: { reason: 'the helper said nothing of the file' } });
      }
      const left = Math.max(0, entry.sizeBytes - (options.offset ?? 0));
      const sizeBytes = Math.min(left, options.length ?? left);
      return new FileReading({ stream, path, incoming, entry, sizeBytes, end });
    } catch (error) {
      stream.abandon();
      end();
      throw error;
    }
  }

  /** Exactly `sizeBytes` bytes, or an error: never fewer without a word. */
  async *chunks(): AsyncGenerator<Buffer, void> {
    let sentBytes = 0;
    for (;;) {
      const chunk = await this.#incoming.next();
      if (chunk === null) break;
      sentBytes += chunk.length;
      if (sentBytes > this.sizeBytes) throw new ProtocolViolation('the helper sent more than the file has');
      yield chunk;
      this.#stream.consumed(chunk.length);
    }
    resultOf(await this.#stream.outcome, this.#path);
    if (sentBytes < this.sizeBytes) {
      throw sandboxErrors.FILE_OPERATION_FAILED({ details: { reason: 'the file was cut while it was read' } });
    }
  }

  close(): void {
    this.#stream.abandon();
    this.#end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }
}

/** The file's attributes come before its bytes. */
class Incoming extends ReceivedBytes {
  readonly entry: Promise<FileEntry | null>;
  readonly #settleEntry: (entry: FileEntry | null) => void;

  constructor() {
    super();
    const { promise, resolve } = Promise.withResolvers<FileEntry | null>();
    this.entry = promise;
    this.#settleEntry = resolve;
  }

  stat(event: Readonly<Record<string, unknown>>): void {
    if (event['type'] === 'stat') this.#settleEntry(parseEntry(record(event['entry'])));
  }

  override end(): void {
    super.end();
    this.#settleEntry(null); // does nothing when the entry came
  }
}
