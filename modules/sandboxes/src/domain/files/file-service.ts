import { isAppError } from '@svc/errors';
import type { Clock, DiskSpace } from '@svc/runtime';
import { assertDiskRoom } from '../disk-room.ts';
import type { HelperConnection, HelperRequest } from '../helper/helper-connection.ts';
import type { LiveSandboxes } from '../live-sandboxes.ts';
import type { Sandbox } from '../sandbox.ts';
import type { SandboxService } from '../sandbox-service.ts';
import { sandboxErrors } from '../../errors.ts';
import { ArchiveReading } from './archive-reading.ts';
import { ArchiveWriting } from './archive-writing.ts';
import { count, parseEntry, type FileEntry } from './file-entry.ts';
import { resultOf } from './file-outcome.ts';
import { filePath } from './file-path.ts';
import { FileReading, type ReadOptions } from './file-reading.ts';
import { FileWatch } from './file-watch.ts';
import { FileWriting, type WriteOptions } from './file-writing.ts';

export interface FileServiceOptions {
  readonly service: SandboxService;
  readonly live: LiveSandboxes;
  readonly clock: Clock;
  readonly disk: DiskSpace;
}

export interface FilePage {
  readonly entries: readonly FileEntry[];
  readonly nextCursor: string | null;
  readonly total: number;
}

const HOME = '/root';

/** Files of one running sandbox. Every operation counts as activity. */
export class SandboxFiles {
  readonly #connection: HelperConnection;
  readonly #home: string;
  readonly #diskBytes: number;
  readonly #begin: () => () => void;

  constructor(connection: HelperConnection, sandbox: Sandbox, begin: () => () => void) {
    this.#connection = connection;
    this.#home = sandbox.environment['HOME'] ?? HOME;
    this.#diskBytes = sandbox.resources.diskMb * 1024 * 1024;
    this.#begin = begin;
  }

  path(given: string): string {
    return filePath(given, this.#home);
  }

  /** Directories first, each group in byte order. */
  async list(path: string, page: { cursor?: string | undefined; limit?: number | undefined }): Promise<FilePage> {
    const result = await this.#call({ op: 'file.list', path, ...page }, path);
    const entries = result['entries'];
    const cursor = result['next_cursor'];
    return {
      entries: Array.isArray(entries) ? entries.map(parseEntry) : [],
      nextCursor: typeof cursor === 'string' && cursor !== '' ? cursor : null,
      total: count(result, 'total'),
    };
  }

  /** Describes the path itself; does not follow a link. */
  async stat(path: string): Promise<FileEntry> {
    return parseEntry(await this.#call({ op: 'file.stat', path }, path));
  }

  async isDirectory(path: string): Promise<boolean> {
    // Listing follows links like the kernel; `file.stat` does not.
    const outcome = await this.#connection.call({ op: 'file.list', path, limit: 1 });
    return outcome.ok;
  }

  /** Resolves once the file is open and its size is known. Bytes follow as they are read. */
  read(path: string, options: ReadOptions): Promise<FileReading> {
    return FileReading.open(this.#connection, path, options, this.#begin());
  }

  /** The write becomes visible with `finish`, atomically. */
  write(path: string, options: WriteOptions): FileWriting {
    return new FileWriting(this.#connection, path, options, this.#begin());
  }

  async makeDirectory(path: string, options: { mode?: number | undefined; parents: boolean }): Promise<boolean> {
    try {
      return (await this.#call({ op: 'file.mkdir', path, ...options }, path))['created'] === true;
    } catch (error) {
      // A file exists at the path of the directory or of one of its parents.
      if (isAppError(error) && error.code === 'NOT_A_DIRECTORY') throw sandboxErrors.PATH_EXISTS({ details: { path } });
      throw error;
    }
  }

  async remove(path: string, options: { recursive: boolean }): Promise<void> {
    await this.#call({ op: 'file.remove', path, ...options }, path);
  }

  async move(path: string, target: string, options: { overwrite: boolean }): Promise<void> {
    await this.#call({ op: 'file.move', path, target, ...options }, path);
  }

  /**
   * Streams a folder as a tar archive that is generated while it is read. Throws NOT_A_DIRECTORY and errors from
   * opening it.
   */
  archive(path: string): Promise<ArchiveReading> {
    return ArchiveReading.open(this.#connection, path, this.#begin());
  }

  /** The contents become visible with `finish`, and only if the whole archive is valid. */
  unpack(path: string): ArchiveWriting {
    return new ArchiveWriting(this.#connection, path, { maxBytes: this.#diskBytes }, this.#begin());
  }

  /** Opening a watch is activity, but a watch that stays open is not: a sandbox that is only watched is idle. */
  watch(path: string, options: { recursive: boolean }): Promise<FileWatch> {
    this.#begin()();
    return FileWatch.open(this.#connection, path, options);
  }

  async #call(request: HelperRequest, path: string): Promise<Readonly<Record<string, unknown>>> {
    const end = this.#begin();
    try {
      return resultOf(await this.#connection.call(request), path);
    } finally {
      end();
    }
  }
}

/** Opens the files of a sandbox. Throws 404 for a sandbox of another workspace, 409 if it is not running. */
export class FileService {
  readonly #options: FileServiceOptions;

  constructor(options: FileServiceOptions) {
    this.#options = options;
  }

  /** Like `of`, for operations that add bytes. Throws HOST_DISK_FULL. */
  async forWriting(workspaceUuid: string, id: string): Promise<SandboxFiles> {
    const files = await this.of(workspaceUuid, id);
    await this.assertRoom();
    return files;
  }

  /** Throws HOST_DISK_FULL if the host has no room for more sandbox data. */
  assertRoom(): Promise<void> {
    return assertDiskRoom(this.#options.disk, 0);
  }

  async of(workspaceUuid: string, id: string): Promise<SandboxFiles> {
    const { service, live, clock } = this.#options;
    const sandbox = await service.get(workspaceUuid, id);
    const connection = sandbox.status === 'running' ? live.findConnection(id) : null;
    if (connection === null) throw sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status: sandbox.status } });
    return new SandboxFiles(connection, sandbox, () => live.begin(id, clock.nowMs()));
  }
}
