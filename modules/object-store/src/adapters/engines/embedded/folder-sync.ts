import type { FileSystem } from './file-system.ts';

interface Syncing {
  running: Promise<void>;
  /** Begins when the running one has ended, and so covers what changed meanwhile. */
  next: Promise<void> | null;
}

/** fsync of folders, shared: whoever asks while one runs waits for the next, and all of them for the same one. */
export class FolderSync {
  readonly #files: FileSystem;
  readonly #folders = new Map<string, Syncing>();

  constructor(files: FileSystem) {
    this.#files = files;
  }

  /** All entries that were made in the folder before this call are on stable storage when it resolves. */
  sync(folder: string): Promise<void> {
    const current = this.#folders.get(folder);
    if (current === undefined) return this.#start(folder);
    current.next ??= current.running.then(
      () => this.#start(folder),
      () => this.#start(folder),
    );
    return current.next;
  }

  #start(folder: string): Promise<void> {
    const syncing: Syncing = { running: syncFolder(this.#files, folder), next: null };
    this.#folders.set(folder, syncing);
    const forget = () => {
      if (syncing.next === null && this.#folders.get(folder) === syncing) this.#folders.delete(folder);
    };
    syncing.running.then(forget, forget);
    return syncing.running;
  }
}

/** The entries of a folder are on stable storage. */
export async function syncFolder(files: FileSystem, folder: string): Promise<void> {
  const handle = await files.open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
