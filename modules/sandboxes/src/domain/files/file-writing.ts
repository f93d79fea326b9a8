import { createHash, type Hash } from 'node:crypto';
import type { AgentConnection } from '../helper/agent-connection.ts';
import type { AgentStream } from '../helper/agent-stream.ts';
import { TRANSFER_WINDOW_BYTES } from '../helper/frames.ts';
import { parseEntry, type FileEntry } from './file-entry.ts';
import type { FilePrecondition } from './file-precondition.ts';
import { resultOf } from './file-outcome.ts';

export interface WriteOptions {
  readonly mode?: number | undefined;
  readonly append: boolean;
  /** Makes the folders on the way. */
  readonly parents: boolean;
  /** Looked at when the write begins and once more when it is put in place. */
  readonly when?: FilePrecondition | undefined;
}

export interface WrittenFile {
  readonly created: boolean;
  readonly entry: FileEntry;
  /** Of the bytes that were sent, as hexadecimal digits. */
  readonly sha256: string;
}

/** A file that is being written. Without `finish` the sandbox keeps what it had. */
export class FileWriting {
  readonly path: string;
  readonly #stream: AgentStream;
  readonly #hash: Hash = createHash('sha256');
  readonly #end: () => void;

  constructor(connection: AgentConnection, path: string, options: WriteOptions, end: () => void) {
    this.path = path;
    this.#stream = connection.start(
      { op: 'file.write', path, ...options },
      { inputWindowBytes: TRANSFER_WINDOW_BYTES },
    );
    this.#end = end;
  }

  /** Awaiting it is the backpressure. Throws as soon as the helper has given up, such as for a full disk. */
  async write(chunk: Uint8Array): Promise<void> {
    this.#hash.update(chunk);
    if (await this.#stream.write(chunk)) return;
    resultOf(await this.#stream.outcome, this.path);
  }

  async finish(): Promise<WrittenFile> {
    try {
      this.#stream.finishInput();
      const result = resultOf(await this.#stream.outcome, this.path);
      return {
        created: result['created'] === true,
        entry: parseEntry(result['entry']),
        sha256: this.#hash.digest('hex'),
      };
    } finally {
      this.#end();
    }
  }

  /** Leaves nothing behind. Safe at any time. */
  abort(): void {
    this.#stream.abandon();
    this.#end();
  }
}
