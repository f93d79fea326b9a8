import { mkdir, open, opendir, rename, stat, statfs, unlink, type FileHandle } from 'node:fs/promises';
import { DirectFile, DirectWrites } from './direct-writes.ts';

export interface OpenFile {
  /** Writes behind what was written before; answers how many bytes were, which may be fewer than given. */
  writev(chunks: readonly Uint8Array[]): Promise<number>;
  /** Answers how many bytes were read; 0 at the end. */
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<number>;
  /** The file's bytes are on stable storage. */
  datasync(): Promise<void>;
  /** As `datasync`; of a folder: its entries. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Every call that the embedded engine makes of a file system. One place, so that a test can let each of them fail, and
 * can drop what was never synced.
 */
export interface FileSystem {
  /** `wx` makes a file that must not be there; `r` opens a file or a folder. */
  open(path: string, flags: 'wx' | 'r'): Promise<OpenFile>;
  /** With its parents; one that is there stays. */
  mkdir(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  stat(path: string): Promise<{ size: number; mtimeMs: number }>;
  names(folder: string): AsyncIterable<string>;
  freeBytes(folder: string): Promise<number>;
}

/** Everything belongs to its owner alone. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** The file system of the machine. */
export function nodeFileSystem(): FileSystem {
  const direct = new DirectWrites();
  return {
    open: async (path, flags) => fileOf(path, await open(path, flags, FILE_MODE), direct),
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

function fileOf(path: string, handle: FileHandle, direct: DirectWrites): OpenFile {
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
    datasync: () => handle.datasync(), // of the file, whichever way its bytes went
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
