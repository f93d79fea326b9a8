import type { Writable } from 'node:stream';
import type { HelperConnection } from '../helper/helper-connection.ts';
import type { HelperStream } from '../helper/helper-stream.ts';
import { TRANSFER_WINDOW_BYTES } from '../helper/frames.ts';
import { resultOf } from './file-outcome.ts';
import { IncomingBytes } from './incoming-bytes.ts';
import type { Transfer } from './transfer-body.ts';

/** A folder streamed as a tar archive. The helper reads no faster than the consumer. End it with `close`. */
export class ArchiveReading implements Transfer {
  readonly #stream: HelperStream;
  readonly #path: string;
  readonly #incoming: IncomingBytes;
  readonly #end: () => void;

  private constructor(stream: HelperStream, path: string, incoming: IncomingBytes, end: () => void) {
    this.#stream = stream;
    this.#path = path;
    this.#incoming = incoming;
    this.#end = end;
  }

  /** Resolves when the folder is open. Rejects if it cannot be opened. */
  static async open(connection: HelperConnection, path: string, end: () => void): Promise<ArchiveReading> {
    const incoming = new IncomingBytes();
    const begun = Promise.withResolvers<void>();
    const stream = connection.start(
      { op: 'file.archive', path },
      {
        windowBytes: TRANSFER_WINDOW_BYTES,
        data: (bytes) => incoming.push(bytes),
        event: () => begun.resolve(),
      },
    );
    void stream.outcome.then(() => {
      incoming.end();
      begun.resolve();
    });
    await begun.promise;
    if (stream.ended) {
      const outcome = await stream.outcome;
      if (!outcome.ok) {
        end();
        resultOf(outcome, path); // throws the failure
      }
    }
    return new ArchiveReading(stream, path, incoming, end);
  }

  /** Writes the whole archive. Rejects at the end if it is incomplete. */
  async writeTo(to: Writable): Promise<void> {
    await this.#incoming.writeTo(this.#stream, to);
    resultOf(await this.#stream.outcome, this.#path);
  }

  /** Yields the whole archive. Each chunk is valid until the next one is requested. Throws at the end if it is incomplete. */
  async *chunks(): AsyncGenerator<Buffer, void> {
    yield* this.#incoming.chunks(this.#stream);
    resultOf(await this.#stream.outcome, this.#path);
  }

  close(): void {
    this.#stream.abandon();
    this.#end();
  }
}
