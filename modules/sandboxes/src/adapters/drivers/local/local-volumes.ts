import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findProgram } from './requirements.ts';
import { assertSandboxId, type VolumeDriver } from '../../../domain/driver.ts';

const MIB = 1024 * 1024;
/** The block unit of `stat`, regardless of the file system's block size. */
const STAT_BLOCK_BYTES = 512;

export interface LocalVolumesOptions {
  readonly dataFolder: string;
  /** Path of a formatted, empty disk of this many MiB. */
  readonly template: (sizeMb: number) => Promise<string>;
  /** Calls the launcher. */
  readonly call: (op: string, id: string, parameters: Record<string, unknown>) => Promise<unknown>;
}

/**
 * Volumes are sparse files with a file system, `volumes/<id>/volume.img`, like the disks of sandboxes. All mounts of one
 * share its loop device.
 */
export class LocalVolumes implements VolumeDriver {
  readonly #options: LocalVolumesOptions;

  constructor(options: LocalVolumesOptions) {
    this.#options = options;
  }

  async create(id: string, sizeMb: number): Promise<void> {
    const { template, call } = this.#options;
    const to = await this.#prepare(id);
    await call('make_volume', id, { from: await template(sizeMb), to });
  }

  async copy(id: string, targetId: string): Promise<{ sizeBytes: number }> {
    const { call } = this.#options;
    const to = await this.#prepare(targetId);
    // Check before the freeze: if a launcher dies during the copy, sandboxes stay frozen.
    const paused = await this.#pausedSandboxes();
    const copied = await call('copy_volume', id, { from: this.fileOf(id), to, paused_sandboxes: paused });
    const { size_bytes: size } = copied as { size_bytes?: unknown }; // the launcher's answer, checked here
    return { sizeBytes: typeof size === 'number' ? size : 0 };
  }

  async resize(id: string, sizeMb: number): Promise<void> {
    const tool = findProgram('resize2fs') ?? 'resize2fs'; // the name is in the error if it is missing
    await this.#options.call('resize_volume', id, { from: this.fileOf(id), size_bytes: sizeMb * MIB, tool });
  }

  async sizeBytes(id: string): Promise<number> {
    const found = await stat(this.fileOf(id)).catch(nullIfMissing);
    return (found?.blocks ?? 0) * STAT_BLOCK_BYTES; // sparse file, so its length is not its usage
  }

  async remove(id: string): Promise<void> {
    await rm(dirname(this.fileOf(id)), { recursive: true, force: true });
  }

  async list(): Promise<readonly string[]> {
    return (await readdir(join(this.#options.dataFolder, 'volumes')).catch(nullIfMissing)) ?? [];
  }

  /** Path of a volume. */
  fileOf(id: string): string {
    assertSandboxId(id);
    return join(this.#options.dataFolder, 'volumes', id, 'volume.img');
  }

  async #prepare(id: string): Promise<string> {
    const file = this.fileOf(id);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    return file;
  }

  async #pausedSandboxes(): Promise<string[]> {
    const { sandboxes } = (await this.#options.call('list', '', {})) as {
      sandboxes?: readonly { sandbox: string; paused: boolean }[];
    }; // the launcher's answer
    return (sandboxes ?? []).filter(({ paused }) => paused).map(({ sandbox }) => sandbox);
  }
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
