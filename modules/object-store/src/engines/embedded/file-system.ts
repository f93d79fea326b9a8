import { mkdir, open, opendir, rename, stat, statfs, unlink } from 'node:fs/promises';

export interface OpenFile {
  /** Answers how many bytes were written, which may be fewer than given. */
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

export const nodeFileSystem: FileSystem = {
  open: async (path, flags) => {
    const handle = await open(path, flags, FILE_MODE);
    return {
      writev: async (chunks) => (await handle.writev(chunks)).bytesWritten,
      read: async (buffer, offset, length, position) => (await handle.read(buffer, offset, length, position)).bytesRead,
      datasync: () => handle.datasync(),
      sync: () => handle.sync(),
      close: () => handle.close(),
    };
  },
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
