import { mkdir, open, opendir, rename, stat, statfs, unlink, type FileHandle } from 'node:fs/promises';
import { DirectFile, DirectWrites } from './direct-writes.ts';

export interface OpenFile {
  /** Appends the chunks. Returns the number of bytes written, which may be fewer than given. */
  writev(chunks: readonly Uint8Array[]): Promise<number>;
  /** Returns the number of bytes read; 0 at the end of the file. */
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<number>;
  /** Flushes the file's bytes to stable storage. */
  datasync(): Promise<void>;
  /** Like `datasync`; for a folder, flushes its entries. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Every file system call of the embedded engine. One interface, so that a test can fail each call and drop whatever was
 * never synced.
 */
export interface FileSystem {
  /** `wx` creates a file and fails if it exists; `r` opens a file or a folder. */
  open(path: string, flags: 'wx' | 'r'): Promise<OpenFile>;
  /** Creates the folder and its parents; an existing folder is not an error. */
  mkdir(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  stat(path: string): Promise<{ size: number; mtimeMs: number }>;
  names(folder: string): AsyncIterable<string>;
  freeBytes(folder: string): Promise<number>;
}

/** Only the owner has access. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** The machine's file system. */
export function nodeFileSystem(): FileSystem {
  const direct = new DirectWrites();
  return {
    open: async (path, flags) => createOpenFile(path, await open(path, flags, FILE_MODE), direct),
    mkdir: async (path) => {
      await mkdir(path, { recursive: true, mode: FOLDER_MODE });
    },
    rename: (from, to) => rename(from, to),
    unlink: (path) => unlink(path),
    stat: (path) => stat(path),
    names: async function* (folder) {
      for await (const { name } of await opendir(folder)) yield name;
    },
    freeBytes: async (folder) => {
      const { bavail, bsize } = await statfs(folder);
      return bavail * bsize;
    },
  };
}

function createOpenFile(path: string, handle: FileHandle, direct: DirectWrites): OpenFile {
  const file = new DirectFile(path);
  let position = 0;
  return {
    writev: async (chunks) => {
      const written =
        (await direct.write(file, chunks, position)) ?? (await handle.writev([...chunks], position)).bytesWritten;
      position += written;
      return written;
    },
    read: async (buffer, offset, length, at) => (await handle.read(buffer, offset, length, at)).bytesRead,
    datasync: () => handle.datasync(), // covers direct writes too
    sync: () => handle.sync(),
    close: async () => {
      try {
        await file.close();
      } finally {
        await handle.close();
      }
    },
  };
}
