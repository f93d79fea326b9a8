import type { HelperConnection } from '../helper/helper-connection.ts';
import type { HelperStream } from '../helper/helper-stream.ts';
import { ProtocolViolation } from '../helper/frames.ts';
import { ReceivedBytes } from '../helper/received-bytes.ts';
import { record } from './file-entry.ts';
import { resultOf } from './file-outcome.ts';

export type FileChangeType = 'created' | 'changed' | 'removed' | 'moved' | 'overflow';

export interface FileChange {
  readonly type: FileChangeType;
  readonly path: string;
  /** Raw bytes of the path if it is not UTF-8 and `path` is only an approximation. */
  readonly pathBase64: string | null;
  /** The previous path of something that was moved. */
  readonly from: string | null;
  readonly isDir: boolean;
  /** The platform wrote it, whole and in one step. */
  readonly isWritten: boolean;
  /** Why changes were not reported. */
  readonly reason: string | null;
}

const MAX_FOLDERS = 8192;
/** A path has at most 4096 bytes, each taking at most six characters in JSON, and occurs at most three times. */
const MAX_LINE_BYTES = 128 * 1024;
const TYPES: ReadonlySet<string> = new Set(['created', 'changed', 'removed', 'moved', 'overflow']);

/** Streams changes below a folder. Unread changes wait in the sandbox, in a queue that reports its overflow. */
export class FileWatch {
  /** Number of folders watched at the start. */
  readonly folders: number;
  readonly #stream: HelperStream;
  readonly #incoming: ReceivedBytes;

  private constructor(stream: HelperStream, incoming: ReceivedBytes, folders: number) {
    this.#stream = stream;
    this.#incoming = incoming;
    this.folders = folders;
  }

  /** Resolves once every further change is reported. */
  static async open(connection: HelperConnection, path: string, options: { recursive: boolean }): Promise<FileWatch> {
    const incoming = new ReceivedBytes();
    const watching = Promise.withResolvers<number>();
    const stream = connection.start(
      { op: 'file.watch', path, recursive: options.recursive, max_watches: MAX_FOLDERS },
      {
        data: (bytes) => incoming.push(bytes),
        event: ({ watches }) => watching.resolve(typeof watches === 'number' ? watches : 0),
      },
    );
    void stream.outcome.then(() => {
      incoming.end();
      watching.resolve(0);
    });
    const folders = await watching.promise;
    if (stream.ended) {
      const outcome = await stream.outcome;
      if (!outcome.ok) resultOf(outcome, path); // throws the failure
    }
    return new FileWatch(stream, incoming, folders);
  }

  /** Ends when the watched folder or the sandbox is gone. */
  async *changes(): AsyncGenerator<FileChange, void> {
    let rest = Buffer.alloc(0);
    for (;;) {
      const chunk = await this.#incoming.next();
      if (chunk === null) return;
      const bytes = Buffer.concat([rest, chunk]);
      let start = 0;
      for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
        yield parseChange(bytes.toString('utf8', start, end));
        start = end + 1;
      }
      rest = bytes.subarray(start);
      if (rest.length > MAX_LINE_BYTES) throw new ProtocolViolation('a change is longer than the limit');
      this.#stream.consumed(chunk.length);
    }
  }

  close(): void {
    this.#stream.abandon();
  }
}

function parseChange(line: string): FileChange {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new ProtocolViolation('a change is not valid JSON');
  }
  const fields = record(value);
  const text = (name: string, most: number): string | null => {
    const given = fields[name];
    return typeof given === 'string' ? given.slice(0, most) : null;
  };
  const type = text('type', 16) ?? '';
  if (!TYPES.has(type)) throw new ProtocolViolation('a change has an unknown type');
  return {
    type: type as FileChangeType, // one of the five
    path: text('path', 8192) ?? '',
    pathBase64: text('path_b64', 12_288),
    from: text('from', 8192),
    isDir: fields['is_dir'] === true,
    isWritten: fields['written'] === true,
    reason: text('reason', 200),
  };
}
