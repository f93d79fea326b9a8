import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sandboxErrors } from '../../../errors.ts';
import type { HelperBinaries } from '@svc/helper-binary';
import type { ImageStore } from '../../images/image-store.ts';
import { assertSandboxId, type SandboxSpec, type SnapshotDriver } from '../../../domain/driver.ts';
import { LocalArchives, type LocalArchivesOptions } from './local-archives.ts';
import { readKept, readKeptSnapshot, writeRecord } from './kept-sandbox.ts';

const DISK = 'disk.img';
/** The block unit of `stat`, regardless of the file system's block size. */
const STAT_BLOCK_BYTES = 512;

export interface LocalSnapshotsOptions extends Pick<LocalArchivesOptions, 'disk'> {
  readonly dataFolder: string;
  readonly images: ImageStore;
  readonly helperBinaries: HelperBinaries;
  /** The files that each sandbox has for itself. */
  readonly firstFiles: (spec: SandboxSpec) => Record<string, string>;
  /** Calls the launcher. */
  readonly call: (op: string, id: string, parameters: Record<string, unknown>) => Promise<unknown>;
}

/**
 * Copies of disks: `snapshots/<id>/disk.img`, sparse, and sharing blocks where the file system supports it. A snapshot
 * holds its image like a sandbox does.
 */
export class LocalSnapshots implements SnapshotDriver {
  readonly archives: LocalArchives;
  readonly #options: LocalSnapshotsOptions;

  constructor(options: LocalSnapshotsOptions) {
    this.#options = options;
    this.archives = new LocalArchives({
      ...options,
      copyOf: (snapshotId) => this.#copyOf(snapshotId),
      diskOf: (id) => this.#diskOf(id),
      adopt: (spec, copy, digest) => this.#adopt(spec, copy, digest),
    });
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

  /** Creates the disk of a sandbox from a snapshot of this node. */
  async provide(spec: SandboxSpec, snapshotId: string): Promise<void> {
    const { dataFolder, images } = this.#options;
    const kept = await readKeptSnapshot(dataFolder, snapshotId);
    if (kept === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its snapshot is gone' } });
    if ((await images.claimDigest(spec.id, kept.digest)) === null) {
      throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'the image of its snapshot is gone' } });
    }
    await mkdir(dirname(this.#diskOf(spec.id)), { recursive: true, mode: 0o700 });
    await this.#adopt(spec, this.#copyOf(snapshotId), kept.digest);
  }

  /** The record comes last: without it, the sandbox was not created. */
  async #adopt(spec: SandboxSpec, from: string, digest: string): Promise<void> {
    const to = this.#diskOf(spec.id);
    await this.#options.call('copy_disk', spec.id, { from, to, files: this.#options.firstFiles(spec) });
    const kept = { digest, egressAllow: spec.egressAllow ?? null, isolation: spec.isolation };
    await writeRecord(join(dirname(to), 'sandbox.json'), kept);
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
