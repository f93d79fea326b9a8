import { isAppError, type AppError } from '@svc/errors';
import type { Clock, DiskSpace } from '@svc/runtime';
import { assertDiskRoom } from '../disk-room.ts';
import type { HelperConnection, HelperRequest } from '../helper/helper-connection.ts';
import type { LiveSandboxes } from '../live-sandboxes.ts';
import type { SandboxService } from '../sandbox-service.ts';
import { sandboxErrors } from '../../errors.ts';
import { ArchiveReading } from './archive-reading.ts';
import { ArchiveWriting } from './archive-writing.ts';
import { count, parseEntry, type FileEntry } from './file-entry.ts';
import { resultOf } from './file-outcome.ts';
import { filePath } from './file-path.ts';
import { FileReading, type ReadOptions } from './file-reading.ts';
import { FileWatch } from './file-watch.ts';
import { FileWriting, type TakeRoom, type WriteOptions } from './file-writing.ts';

export interface FileServiceOptions {
  readonly service: SandboxService;
  readonly live: LiveSandboxes;
  readonly clock: Clock;
  readonly disk: DiskSpace;
}

export interface FileAttributes {
  readonly mode?: number | undefined;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
}

export interface FilePage {
  readonly entries: readonly FileEntry[];
  readonly nextCursor: string | null;
  readonly total: number;
}

const HOME = '/root';
const MEBIBYTE = 1024 * 1024;

/** What holds the files. */
export interface FilePlace {
  /** Where relative paths begin. */
  readonly home: string;
  readonly diskMb: number;
  /** Asked for every part of what is written. */
  readonly takeRoom?: TakeRoom;
}

/** Files of one running sandbox, or of a volume. Every operation counts as activity. */
export class SandboxFiles {
  readonly #connection: HelperConnection;
  readonly #place: FilePlace;
  readonly #begin: () => () => void;
  /** Null for root. */
  readonly #user: { readonly name: string; readonly home: string } | null;

  constructor(
    connection: HelperConnection,
    place: FilePlace,
    begin: () => () => void,
    user: { readonly name: string; readonly home: string } | null = null,
  ) {
    this.#connection = connection;
    this.#place = place;
    this.#begin = begin;
    this.#user = user;
  }

  /**
   * The same files for a user of the sandbox: relative paths begin in its home, and new files and folders belong to it.
   * Throws USER_NOT_FOUND.
   */
  async asUser(name: string): Promise<SandboxFiles> {
    this.#connection.require('users');
    const user = resultOf(await this.#connection.call({ op: 'user.get', user: name }), name);
    const home = user['home'];
    const found = { name, home: typeof home === 'string' && home.startsWith('/') ? home : HOME };
    return new SandboxFiles(this.#connection, this.#place, this.#begin, found);
  }

  /** Adds a user with a home of its own, unless there is one of this name. */
  async ensureUser(name: string): Promise<void> {
    this.#connection.require('users');
    resultOf(await this.#connection.call({ op: 'user.ensure', user: name }), name);
  }

  path(given: string): string {
    return filePath(given, this.#user?.home ?? this.#place.home);
  }

  /** Throws SANDBOX_NOT_RUNNING or VOLUME_UNREACHABLE if the files can no longer be reached. */
  assertReachable(): void {
    if (this.#connection.lost) resultOf(this.#connection.lostOutcome, '');
  }

  /** Directories first, each group in byte order. */
  async list(
    path: string,
    page: { cursor?: string | undefined; limit?: number | undefined },
    attributesBelow?: string,
  ): Promise<FilePage> {
    const request = { op: 'file.list', path, ...page, attributes_below: attributesBelow };
    const result = await this.#call(request, path);
    const entries = result['entries'];
    const cursor = result['next_cursor'];
    return {
      entries: Array.isArray(entries) ? entries.map(parseEntry) : [],
      nextCursor: typeof cursor === 'string' && cursor !== '' ? cursor : null,
      total: count(result, 'total'),
    };
  }

  /** Describes the path itself; does not follow a link. Attributes are those whose names begin with the prefix. */
  async stat(path: string, attributesBelow?: string): Promise<FileEntry> {
    return parseEntry(await this.#call({ op: 'file.stat', path, attributes_below: attributesBelow }, path));
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
    if (Object.keys(options.attributes ?? {}).length > 0) this.#connection.require('attributes');
    const { takeRoom } = this.#place;
    return new FileWriting(this.#connection, path, { ...options, ...this.#owner() }, this.#begin(), takeRoom);
  }

  async makeDirectory(path: string, options: { mode?: number | undefined; parents: boolean }): Promise<boolean> {
    try {
      return (await this.#call({ op: 'file.mkdir', path, ...options, ...this.#owner() }, path))['created'] === true;
    } catch (error) {
      // A file exists at the path of the directory or of one of its parents.
      if (isAppError(error) && error.code === 'NOT_A_DIRECTORY') throw sandboxErrors.PATH_EXISTS({ details: { path } });
      throw error;
    }
  }

  /** Changes the owner and the permissions of what the path leads to. Only for files of volumes. */
  async setAttributes(path: string, attributes: FileAttributes): Promise<void> {
    await this.#call({ op: 'file.set', path, ...attributes }, path);
  }

  async remove(path: string, options: { recursive: boolean }): Promise<void> {
    await this.#call({ op: 'file.remove', path, ...options }, path);
  }

  async move(path: string, target: string, options: { overwrite: boolean }): Promise<void> {
    try {
      await this.#call({ op: 'file.move', path, target, ...options }, path);
    } catch (error) {
      throw isAppError(error) ? await this.#blameTarget(error, path, target) : error;
    }
  }

  /** The kernel does not say which of the two paths of a move is at fault. */
  async #blameTarget(error: AppError, path: string, target: string): Promise<AppError> {
    switch (error.code) {
      case 'PATH_EXISTS':
        return sandboxErrors.PATH_EXISTS({ details: { path: target }, cause: error });
      case 'DIRECTORY_NOT_EMPTY':
        return sandboxErrors.DIRECTORY_NOT_EMPTY({ details: { path: target }, cause: error });
      case 'PATH_NOT_FOUND': {
        const isThere = await this.stat(path).then(
          () => true,
          () => false,
        );
        const folder = target.slice(0, target.lastIndexOf('/', target.length - 2)) || '/';
        return isThere ? sandboxErrors.PATH_NOT_FOUND({ details: { path: folder }, cause: error }) : error;
      }
      case 'INVALID_PATH': {
        const details = { field: 'target', reason: 'a folder cannot be moved into itself' };
        return target.startsWith(`${path}/`) ? sandboxErrors.INVALID_PATH({ details, cause: error }) : error;
      }
      default:
        return error;
    }
  }

  /**
   * Concatenates files into one that appears atomically, then removes them. Throws FILE_NOT_FOUND with the source that is
   * missing, and leaves everything as it was.
   */
  async compose(sources: readonly string[], target: string): Promise<void> {
    this.#connection.require('compose');
    await this.#call({ op: 'file.compose', sources, path: target, parents: true, ...this.#owner() }, target);
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
    const { diskMb, takeRoom } = this.#place;
    return new ArchiveWriting(this.#connection, path, { maxBytes: diskMb * MEBIBYTE, takeRoom }, this.#begin());
  }

  /** Opening a watch is activity, but a watch that stays open is not: a sandbox that is only watched is idle. */
  watch(path: string, options: { recursive: boolean }): Promise<FileWatch> {
    this.#begin()();
    return FileWatch.open(this.#connection, path, options);
  }

  #owner(): { user?: string } {
    return this.#user === null ? {} : { user: this.#user.name };
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

/** Opens files by what holds them, a sandbox or a volume. Throws 404 for what is of another workspace. */
export interface FilePlaces {
  of(workspaceUuid: string, id: string): Promise<SandboxFiles>;
  /** Like `of`, for operations that add bytes. Throws HOST_DISK_FULL. */
  forWriting(workspaceUuid: string, id: string): Promise<SandboxFiles>;
  /** Throws HOST_DISK_FULL if the host has no room for more. */
  assertRoom(): Promise<void>;
}

/** Opens the files of a sandbox, by its id. Throws 409 if it is not running. */
export class FileService implements FilePlaces {
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
    const connection = await service.connectionTo(sandbox);
    const place = { home: sandbox.environment['HOME'] ?? HOME, diskMb: sandbox.resources.diskMb };
    return new SandboxFiles(connection, place, () => live.begin(id, clock.nowMs()));
  }
}
