import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sandboxErrors } from '../../../errors.ts';
import type { ImageStore } from '../../images/image-store.ts';
import { assertSandboxId, type SnapshotDriver } from '../../../domain/driver.ts';
import { readKept, readKeptSnapshot, writeRecord } from './kept-sandbox.ts';

export interface LocalSnapshotsOptions {
  readonly dataFolder: string;
  readonly images: ImageStore;
  /** Calls the launcher. */
  readonly call: (op: string, id: string, parameters: Record<string, unknown>) => Promise<unknown>;
}

/**
 * Copies of disks: `snapshots/<id>/disk.img`, sparse, and without a copy of any byte where the file system can share
 * blocks. A snapshot holds its image as a sandbox does.
 */
export class LocalSnapshots implements SnapshotDriver {
  readonly #options: LocalSnapshotsOptions;

  constructor(options: LocalSnapshotsOptions) {
    this.#options = options;
  }

  async take(id: string, snapshotId: string): Promise<{ sizeBytes: number }> {
    const { dataFolder, images, call } = this.#options;
    assertSandboxId(snapshotId);
    const kept = await readKept(dataFolder, id);
    if (kept === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its files are gone' } });
    if ((await images.claimDigest(snapshotId, kept.digest)) === null) {
      throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its image is gone' } });
    }
    const folder = this.#folder(snapshotId);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const from = join(dataFolder, 'disks', id, 'disk.img');
    // Told apart before anything stands still for the copy: a launcher that dies meanwhile leaves it so.
    const { paused } = (await call('inspect', id, {})) as { paused?: unknown }; // the launcher's answer
    const taken = await call('snapshot', id, { from, to: join(folder, 'disk.img'), paused: paused === true });
    await writeRecord(join(folder, 'snapshot.json'), kept);
    const { size_bytes: size } = taken as { size_bytes?: unknown }; // the launcher's answer, checked here
    return { sizeBytes: typeof size === 'number' ? size : 0 };
  }

  /** Puts a copy of the snapshot where the disk of the sandbox will be; answers the digest of its image. */
  async provide(id: string, snapshotId: string, disk: string, files: Record<string, string>): Promise<string> {
    const { dataFolder, images, call } = this.#options;
    assertSandboxId(snapshotId);
    const kept = await readKeptSnapshot(dataFolder, snapshotId);
    if (kept === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its snapshot is gone' } });
    if ((await images.claimDigest(id, kept.digest)) === null) {
      throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'the image of its snapshot is gone' } });
    }
    await call('copy_disk', id, { from: join(this.#folder(snapshotId), 'disk.img'), to: disk, files });
    return kept.digest;
  }

  async remove(snapshotId: string): Promise<void> {
    assertSandboxId(snapshotId);
    await rm(this.#folder(snapshotId), { recursive: true, force: true });
    await this.#options.images.release(snapshotId);
  }

  async list(): Promise<readonly string[]> {
    return readdir(join(this.#options.dataFolder, 'snapshots')).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
  }

  #folder(snapshotId: string): string {
    return join(this.#options.dataFolder, 'snapshots', snapshotId);
  }
}
