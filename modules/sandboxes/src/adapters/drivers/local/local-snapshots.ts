import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sandboxErrors } from '../../../errors.ts';
import type { ImageStore } from '../../images/image-store.ts';
import { assertSandboxId, type SnapshotDriver } from '../../../domain/driver.ts';
import { readKept, readKeptSnapshot, writeRecord } from './kept-sandbox.ts';

const DISK = 'disk.img';
/** The block unit of `stat`, regardless of the file system's block size. */
const STAT_BLOCK_BYTES = 512;

export interface LocalSnapshotsOptions {
  readonly dataFolder: string;
  readonly images: ImageStore;
  /** Calls the launcher. */
  readonly call: (op: string, id: string, parameters: Record<string, unknown>) => Promise<unknown>;
}

/**
 * Copies of disks: `snapshots/<id>/disk.img`, sparse, and sharing blocks where the file system supports it. A snapshot
 * holds its image like a sandbox does.
 */
export class LocalSnapshots implements SnapshotDriver {
  readonly #options: LocalSnapshotsOptions;

  constructor(options: LocalSnapshotsOptions) {
    this.#options = options;
  }

  async take(id: string, snapshotId: string): Promise<{ sizeBytes: number }> {
    const { dataFolder, images, call } = this.#options;
    const kept = await readKept(dataFolder, id);
    if (kept === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its files are gone' } });
    if ((await images.claimDigest(snapshotId, kept.digest)) === null) {
      throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its image is gone' } });
    }
    const to = this.#copyOf(snapshotId);
    const folder = dirname(to);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const from = this.#diskOf(id);
    // Check before the freeze: if a launcher dies during the copy, the sandbox stays frozen.
    const { paused } = (await call('inspect', id, {})) as { paused?: unknown }; // the launcher's answer
    const taken = await call('snapshot', id, { from, to, paused: paused === true });
    await writeRecord(join(folder, 'snapshot.json'), kept);
    const { size_bytes: size } = taken as { size_bytes?: unknown }; // the launcher's answer, checked here
    return { sizeBytes: typeof size === 'number' ? size : 0 };
  }

  async sizeBytes(of: { readonly sandbox: string } | { readonly snapshot: string }): Promise<number> {
    const disk = 'sandbox' in of ? this.#diskOf(of.sandbox) : this.#copyOf(of.snapshot);
    const found = await stat(disk).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    return (found?.blocks ?? 0) * STAT_BLOCK_BYTES; // sparse file, so its length is not its usage
  }

  /** Copies the snapshot to the sandbox's disk path. Returns the digest of its image. */
  async provide(id: string, snapshotId: string, disk: string, files: Record<string, string>): Promise<string> {
    const { dataFolder, images, call } = this.#options;
    const kept = await readKeptSnapshot(dataFolder, snapshotId);
    if (kept === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its snapshot is gone' } });
    if ((await images.claimDigest(id, kept.digest)) === null) {
      throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'the image of its snapshot is gone' } });
    }
    await call('copy_disk', id, { from: this.#copyOf(snapshotId), to: disk, files });
    return kept.digest;
  }

  async remove(snapshotId: string): Promise<void> {
    await rm(dirname(this.#copyOf(snapshotId)), { recursive: true, force: true });
    await this.#options.images.release(snapshotId);
  }

  async list(): Promise<readonly string[]> {
    return readdir(join(this.#options.dataFolder, 'snapshots')).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
  }

  #diskOf(id: string): string {
    assertSandboxId(id);
    return join(this.#options.dataFolder, 'disks', id, DISK);
  }

  #copyOf(snapshotId: string): string {
    assertSandboxId(snapshotId);
    return join(this.#options.dataFolder, 'snapshots', snapshotId, DISK);
  }
}
