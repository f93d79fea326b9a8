import type { AgentConnection } from '../agent/agent-connection.ts';
import type { AgentStream } from '../agent/agent-stream.ts';
import { ReceivedBytes } from '../agent/received-bytes.ts';
import { resultOf } from './file-outcome.ts';

/** A folder that is sent as a tar stream. The helper reads no faster than is taken here. It ends with `close`. */
export class ArchiveReading {
  readonly #stream: AgentStream;
  readonly #path: string;
  readonly #incoming: ReceivedBytes;
  readonly #end: () => void;

  private constructor(stream: AgentStream, path: string, incoming: ReceivedBytes, end: () => void) {
    this.#stream = stream;
    this.#path = path;
    this.#incoming = incoming;
    this.#end = end;
  }

  /** Resolves when the folder is open; rejects with what is wrong with it. */
  static async open(connection: AgentConnection, path: string, end: () => void): Promise<ArchiveReading> {
    const incoming = new ReceivedBytes();
    const begun = Promise.withResolvers<void>();
    const stream = connection.start(
      { op: 'file.archive', path },
      { data: (bytes) => incoming.push(bytes), event: () => begun.resolve() },
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
        resultOf(outcome, path); // throws what went wrong
      }
    }
    return new ArchiveReading(stream, path, incoming, end);
  }

  /** The whole archive, or an error at its end. */
  async *chunks(): AsyncGenerator<Buffer, void> {
    for (;;) {
      const chunk = await this.#incoming.next();
      if (chunk === null) break;
      yield chunk;
      this.#stream.consumed(chunk.length);
    }
    resultOf(await this.#stream.outcome, this.#path);
  }

  close(): void {
    this.#stream.abandon();
    this.#end();
  }
}
