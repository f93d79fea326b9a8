import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { runTool } from '../../images/run-tool.ts';

/** Inodes per MiB: enough for package trees of small files, few enough to keep an empty disk small. */
const INODES_PER_MB = 64;
const MIN_INODES = 4096;
const BLOCKS_PER_MB = 256; // of 4 KiB

/**
 * A file system reserves room for the descriptors of what it may grow to: by default 1024-fold, which is most of an empty
 * disk. Volumes grow; a larger growth stores its descriptors elsewhere (meta_bg).
 */
const GROWTH = 16;
const MAX_BLOCKS = 0xffff_ffff;

/**
 * Formatted, empty disks by size: copying one (100 to 400 KiB of data in a sparse file) takes a fraction of a millisecond,
 * formatting one takes twenty.
 */
export class DiskTemplates {
  readonly #folder: string;
  readonly #mkfs: string;
  readonly #running = new Map<number, Promise<string>>();

  constructor(folder: string, mkfs: string) {
    this.#folder = folder;
    this.#mkfs = mkfs;
  }

  /** Removes templates that a killed platform left unfinished. Call it before the first use. */
  async open(): Promise<void> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    for (const name of names) if (!/^\d+\.ext4$/.test(name)) await rm(join(this.#folder, name), { force: true });
  }

  /** Path of the template for disks of this many MiB. */
  async ofSize(sizeMb: number): Promise<string> {
    const file = join(this.#folder, `${sizeMb}.ext4`);
    if (await exists(file)) return file;
    const running = this.#running.get(sizeMb) ?? this.#make(sizeMb, file).finally(() => this.#running.delete(sizeMb));
    this.#running.set(sizeMb, running);
    return running;
  }

  async #make(sizeMb: number, file: string): Promise<string> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
    try {
      const handle = await open(temporary, 'wx', 0o600);
      await handle.truncate(sizeMb * 1024 * 1024);
      await handle.close();
      const inodes = Math.max(MIN_INODES, sizeMb * INODES_PER_MB);
      const options = ['-q', '-F', '-b', '4096', '-m', '0', '-N', String(inodes), '-J', 'size=4'];
      const growth = Math.min(sizeMb * BLOCKS_PER_MB * GROWTH, MAX_BLOCKS);
      const lazy = ['-E', `lazy_itable_init=1,lazy_journal_init=1,nodiscard,resize=${growth}`];
      await runTool(this.#mkfs, [...options, ...lazy, temporary], { signal: AbortSignal.timeout(60_000) });
      await rename(temporary, file);
      return file;
    } finally {
      await rm(temporary, { force: true });
    }
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
