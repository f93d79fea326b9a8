import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { FileSystem, OpenFile } from '../../../src/adapters/engines/embedded/file-system.ts';

/** A file, independent of its names. */
interface Content {
  written: Buffer[];
  /** How many bytes of `written` are on stable storage. */
  syncedBytes: number;
}

type Entry = Content | 'folder';
type Entries = Map<string, Entry>;

/** The entries of a folder: as programs see them, and on stable storage. */
interface Folder {
  entries: Entries;
  synced: Entries;
  /** Syncs may end in another order than they began; each makes durable what was there when it began. */
  syncsBegun: number;
  /** The latest sync, by its begin, that has ended. */
  syncsEnded: number;
}

/**
 * Passes every call on and records it, so that a power cut can be replayed: bytes without a `datasync` are lost or
 * torn, and names without a sync of their folder may or may not exist. The outcome is random within these bounds.
 */
export class PowerCutFileSystem implements FileSystem {
  readonly #below: FileSystem;
  readonly #root: string;
  readonly #folders = new Map<string, Folder>();

  constructor(below: FileSystem, root: string) {
    this.#below = below;
    this.#root = root;
  }

  async open(path: string, flags: 'wx' | 'r'): Promise<OpenFile> {
    const file = await this.#below.open(path, flags);
    if (flags === 'r') return { ...file, sync: () => this.#syncFolder(path, file) };
    const content: Content = { written: [], syncedBytes: 0 };
    this.#folder(dirname(path)).entries.set(path, content);
    return {
      ...file,
      writev: async (chunks) => {
        const count = await file.writev(chunks);
        content.written.push(Buffer.concat(chunks).subarray(0, count));
        return count;
      },
      datasync: async () => {
        const bytes = sizeOf(content);
        await file.datasync();
        content.syncedBytes = bytes;
      },
    };
  }

  async mkdir(path: string): Promise<void> {
    await this.#below.mkdir(path);
    for (let folder = path; folder.startsWith(this.#root) && folder !== this.#root; folder = dirname(folder)) {
      this.#folder(dirname(folder)).entries.set(folder, 'folder');
    }
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#below.rename(from, to);
    const entries = this.#folder(dirname(from)).entries;
    const content = entries.get(from);
    entries.delete(from);
    if (content !== undefined) this.#folder(dirname(to)).entries.set(to, content);
  }

  async unlink(path: string): Promise<void> {
    await this.#below.unlink(path);
    this.#folder(dirname(path)).entries.delete(path);
  }

  stat(path: string): Promise<{ size: number; mtimeMs: number }> {
    return this.#below.stat(path);
  }

  names(folder: string): AsyncIterable<string> {
    return this.#below.names(folder);
  }

  freeBytes(folder: string): Promise<number> {
    return this.#below.freeBytes(folder);
  }

  /** Snapshots the record; later writes and syncs do not affect it. */
  moment(): PowerCut {
    const copies = new Map<Content, Content>();
    const copyEntry = (entry: Entry): Entry => {
      if (entry === 'folder') return entry;
      const copy = copies.get(entry) ?? { written: [...entry.written], syncedBytes: entry.syncedBytes };
      copies.set(entry, copy);
      return copy;
    };
    const copyAll = (entries: Entries): Entries =>
      new Map([...entries].map(([path, entry]) => [path, copyEntry(entry)]));
    const folders = [...this.#folders].map(([path, { entries, synced }]) => {
      return [path, { entries: copyAll(entries), synced: copyAll(synced) }] as const;
    });
    return new PowerCut(new Map(folders), this.#root);
  }

  async #syncFolder(path: string, file: OpenFile): Promise<void> {
    const folder = this.#folder(path);
    const entries = new Map(folder.entries);
    folder.syncsBegun += 1;
    const number = folder.syncsBegun;
    await file.sync();
    if (number < folder.syncsEnded) return;
    folder.syncsEnded = number;
    folder.synced = entries;
  }

  #folder(path: string): Folder {
    const known = this.#folders.get(path);
    if (known !== undefined) return known;
    const fresh: Folder = { entries: new Map(), synced: new Map(), syncsBegun: 0, syncsEnded: 0 };
    this.#folders.set(path, fresh);
    return fresh;
  }
}

/** The disk at the moment of a power cut. */
export class PowerCut {
  readonly #folders: ReadonlyMap<string, Pick<Folder, 'entries' | 'synced'>>;
  readonly #root: string;

  constructor(folders: ReadonlyMap<string, Pick<Folder, 'entries' | 'synced'>>, root: string) {
    this.#folders = folders;
    this.#root = root;
  }

  /** Writes what remains of the root into another folder. `random` decides the fate of everything unsynced. */
  async leave(target: string, random: () => number): Promise<void> {
    await this.#leaveFolder(this.#root, target, random);
  }

  async #leaveFolder(source: string, target: string, random: () => number): Promise<void> {
    await mkdir(target, { recursive: true });
    const { entries, synced } = this.#folders.get(source) ?? { entries: new Map(), synced: new Map() };
    for (const path of new Set([...synced.keys(), ...entries.keys()])) {
      const [now, before] = [entries.get(path), synced.get(path)];
      const left = now === before || random() < 0.5 ? now : before;
      if (left === undefined) continue;
      const place = join(target, relative(source, path));
      if (left === 'folder') await this.#leaveFolder(path, place, random);
      else await writeFile(place, leftOf(left, random));
    }
  }
}

/** Keeps synced bytes, plus a piece of the rest, whose bytes may be zeros. */
function leftOf(content: Content, random: () => number): Buffer {
  const bytes = Buffer.concat(content.written);
  const end = content.syncedBytes + Math.floor(random() * (bytes.length - content.syncedBytes + 1));
  if (random() < 0.5) bytes.fill(0, content.syncedBytes);
  return bytes.subarray(0, end);
}

function sizeOf({ written }: Content): number {
  return written.reduce((sum, chunk) => sum + chunk.length, 0);
}
