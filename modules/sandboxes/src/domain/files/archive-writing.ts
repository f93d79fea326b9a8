import type { HelperConnection } from '../helper/helper-connection.ts';
import type { HelperStream } from '../helper/helper-stream.ts';
import { TRANSFER_WINDOW_BYTES } from '../helper/frames.ts';
import { count } from './file-entry.ts';
import { resultOf } from './file-outcome.ts';
import type { TakeRoom } from './file-writing.ts';

const MAX_ENTRIES = 100_000;
/** Real archives of text stay below 100; zip bombs reach thousands. */
const MAX_RATIO = 200;

export interface UnpackLimits {
  readonly maxBytes: number;
  /** For the files of a volume: then nothing may grow beyond its size in the archive either, as sparse files would. */
  readonly takeRoom?: TakeRoom | undefined;
}

export interface UnpackedArchive {
  readonly entries: number;
  /** Total size of the files in it. */
  readonly sizeBytes: number;
}

/** A tar archive, plain or gzip, that is unpacked inside the sandbox. Without `finish` the sandbox stays unchanged. */
export class ArchiveWriting {
  readonly #stream: HelperStream;
  readonly #path: string;
  readonly #end: () => void;
  readonly #takeRoom: TakeRoom | undefined;

  constructor(connection: HelperConnection, path: string, { maxBytes, takeRoom }: UnpackLimits, end: () => void) {
    const most = { max_entries: MAX_ENTRIES, max_bytes: maxBytes, max_ratio: takeRoom === undefined ? MAX_RATIO : 1 };
    this.#stream = connection.start(
      { op: 'file.unpack', path, parents: true, ...most },
      { inputWindowBytes: TRANSFER_WINDOW_BYTES },
    );
    this.#path = path;
    this.#end = end;
    this.#takeRoom = takeRoom;
  }

  /** Await it for backpressure. Throws as soon as the helper rejects the archive. */
  async write(chunk: Uint8Array): Promise<void> {
    await this.#takeRoom?.(chunk.length);
    if (await this.#stream.write(chunk)) return;
    resultOf(await this.#stream.outcome, this.#path);
  }

  async finish(): Promise<UnpackedArchive> {
    try {
      this.#stream.finishInput();
      const result = resultOf(await this.#stream.outcome, this.#path);
      return { entries: count(result, 'entries'), sizeBytes: count(result, 'bytes') };
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
