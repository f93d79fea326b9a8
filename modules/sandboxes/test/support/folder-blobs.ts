import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArchiveBlobs, ArchiveWriter } from '../../src/domain/archives/archive.ts';

const READ_BYTES = 1000;

/** Archives in a folder, which several platforms may share. Tests make its next steps fail or wait. */
export class FolderBlobs implements ArchiveBlobs {
  readonly #folder: string;
  beforeSeal: (id: string) => Promise<void> = async () => undefined;
  beforeRemove: (id: string) => Promise<void> = async () => undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async createAs(id: string): Promise<ArchiveWriter> {
    await mkdir(this.#folder, { recursive: true });
    const part = this.#path(`${id}.part`);
    const file = await open(part, 'w');
    let isOpen = true;
    const close = async (): Promise<void> => {
      if (isOpen) await file.close();
      isOpen = false;
    };
    return {
      write: async (chunk) => void (await file.write(chunk)),
      seal: async () => {
        await this.beforeSeal(id);
        await file.sync();
        await close();
        await rename(part, this.#path(id));
      },
      abort: async () => {
        await close();
        await rm(part, { force: true });
      },
    };
  }

  async *read(
    id: string,
    { start, endExclusive }: { start: number; endExclusive: number },
  ): AsyncGenerator<Uint8Array> {
    const file = await open(this.#path(id), constants.O_RDONLY);
    const buffer = Buffer.alloc(READ_BYTES); // reused for each chunk, like an engine's
    try {
      for (let position = start; position < endExclusive;) {
        const length = Math.min(READ_BYTES, endExclusive - position);
        const { bytesRead } = await file.read(buffer, 0, length, position);
        if (bytesRead === 0) throw new Error('the archive is shorter');
        yield buffer.subarray(0, bytesRead);
        position += bytesRead;
      }
    } finally {
      await file.close();
    }
  }

  async remove(id: string): Promise<void> {
    await this.beforeRemove(id);
    await rm(this.#path(id), { force: true });
  }

  async sweepUnsealed(): Promise<number> {
    return 0;
  }

  async close(): Promise<void> {}

  /** Not part of the port: everything that is stored. */
  async list(): Promise<string[]> {
    const names: string[] = await readdir(this.#folder).catch(() => []);
    return names.toSorted();
  }

  /** Not part of the port: how much is stored. */
  async sizeBytes(): Promise<number> {
    let total = 0;
    for (const name of await this.list()) {
      const found = await stat(this.#path(name)).catch(() => null); // removed or sealed meanwhile
      total += found?.size ?? 0;
    }
    return total;
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}
