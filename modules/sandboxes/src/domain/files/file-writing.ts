import { createHash, type Hash } from 'node:crypto';
import type { HelperConnection } from '../helper/helper-connection.ts';
import type { HelperStream } from '../helper/helper-stream.ts';
import { TRANSFER_WINDOW_BYTES } from '../helper/frames.ts';
import { parseEntry, type FileEntry } from './file-entry.ts';
import type { FilePrecondition } from './file-precondition.ts';
import { resultOf } from './file-outcome.ts';

export interface WriteOptions {
  readonly mode?: number | undefined;
  readonly append: boolean;
  /** Creates missing parent folders. */
  readonly parents: boolean;
  /** Checked when the write begins and again when the file is put in place. */
  readonly when?: FilePrecondition | undefined;
  /** Owner of a new file and of missing parents; root by default. */
  readonly user?: string;
  /** Owner of the written file, instead of the previous one. Only for files of volumes. */
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  /** Extended attributes by name; all begin with `user.`. */
  readonly attributes?: Readonly<Record<string, string>>;
}

export interface WrittenFile {
  readonly created: boolean;
  readonly entry: FileEntry;
  /** SHA-256 of the bytes sent, in hexadecimal. */
  readonly sha256: string;
}

/** Counts bytes that are written now. Throws HOST_DISK_FULL if the host has no room for them. */
export type TakeRoom = (sizeBytes: number) => Promise<void>;

/** A file that is being written. Without `finish` the sandbox stays unchanged. */
export class FileWriting {
  readonly path: string;
  readonly #stream: HelperStream;
  readonly #hash: Hash = createHash('sha256');
  readonly #end: () => void;
  readonly #takeRoom: TakeRoom | undefined;

  constructor(connection: HelperConnection, path: string, options: WriteOptions, end: () => void, takeRoom?: TakeRoom) {
    this.path = path;
    this.#stream = connection.start(
      { op: 'file.write', path, ...options },
      { inputWindowBytes: TRANSFER_WINDOW_BYTES },
    );
    this.#end = end;
    this.#takeRoom = takeRoom;
  }

  /** Await it for backpressure. Throws as soon as the helper has given up, such as for a full disk. */
  async write(chunk: Uint8Array): Promise<void> {
    await this.#takeRoom?.(chunk.length);
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

  /** Discards everything written. Safe to call at any time. */
  abort(): void {
    this.#stream.abandon();
    this.#end();
  }
}
