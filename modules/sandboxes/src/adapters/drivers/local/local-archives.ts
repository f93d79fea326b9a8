import { constants } from 'node:fs';
import { mkdir, open, readdir, readFile, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { HelperBinaries } from '@svc/helper-binary';
import { unlimitedDisk, type DiskSpace } from '@svc/runtime';
import { PieceReader } from '../../../domain/archives/archive-codec.ts';
import { readHeader, writeHeader } from '../../../domain/archives/archive-header.ts';
import type { ArchiveDriver, ArchiveSource, SandboxSpec } from '../../../domain/driver.ts';
import { takingDiskRoom } from '../../../domain/disk-room.ts';
import { sandboxErrors } from '../../../errors.ts';
import type { ImageSettings } from '../../../domain/images/image-settings.ts';
import type { ImageStore } from '../../images/image-store.ts';
import { isCatalogDigest } from '../../images/repository-name.ts';
import { packLayers } from '../../images/pack-layers.ts';
import { readKeptSnapshot } from './kept-sandbox.ts';
import { PARENT_GROUP } from './oci-config.ts';

/** Parts of a disk that are read at once, and left out if they are empty. */
const BLOCK_BYTES = 1024 * 1024;
const EMPTY_BLOCK = Buffer.alloc(BLOCK_BYTES);
const RECORD_BYTES = 12;
/** Of each name in an archive of an image: a header, padding, and a record with more of it. */
const ENTRY_BYTES = 2048;
/** Mounts of all controllers: the only one of version 2, or one for each of version 1. */
const CONTROL_GROUPS = '/sys/fs/cgroup';

export interface LocalArchivesOptions {
  readonly dataFolder: string;
  readonly images: ImageStore;
  readonly helperBinaries: HelperBinaries;
  /** Free space on the disk of the data folder, minus the reserve. Defaults to unlimited. */
  readonly disk?: DiskSpace;
  readonly copyOf: (snapshotId: string) => string;
  readonly diskOf: (sandboxId: string) => string;
  /** Turns an unused copy of a disk into the disk of the sandbox. */
  readonly adopt: (spec: SandboxSpec, copy: string, digest: string) => Promise<void>;
}

interface DiskHeader {
  /** Digest of the image below the disk. */
  readonly digest: string;
  readonly sizeBytes: number;
}

/**
 * Archives of disks, and of the images below them. A disk is its blocks that are not empty, each after its offset (8
 * bytes) and length (4 bytes); a block without a length ends it. An image is its settings and one layer.
 */
export class LocalArchives implements ArchiveDriver {
  readonly format = `local/${process.arch}`;
  readonly #options: LocalArchivesOptions;

  constructor(options: LocalArchivesOptions) {
    this.#options = options;
  }

  async base(snapshotId: string): Promise<string> {
    const kept = await readKeptSnapshot(this.#options.dataFolder, snapshotId);
    if (kept === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its snapshot is gone' } });
    return kept.digest;
  }

  async *read(snapshotId: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const digest = await this.base(snapshotId);
    const disk = await open(this.#options.copyOf(snapshotId), constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const { size: sizeBytes } = await disk.stat();
      yield writeHeader({ digest, sizeBytes } satisfies DiskHeader);
      const block = Buffer.alloc(BLOCK_BYTES);
      for (let offset = 0; offset < sizeBytes;) {
        signal.throwIfAborted();
        const { bytesRead } = await disk.read(block, 0, BLOCK_BYTES, offset);
        if (bytesRead === 0) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its snapshot is incomplete' } });
        const content = block.subarray(0, bytesRead);
        // A copy: the receiver may hold it for longer than until the next one.
        if (!content.equals(EMPTY_BLOCK.subarray(0, bytesRead)))
          yield Buffer.concat([writeRecord(offset, bytesRead), content]);
        offset += bytesRead;
      }
      yield writeRecord(sizeBytes, 0);
    } finally {
      await disk.close();
    }
  }

  async describeBase(digest: string): Promise<{ isBuilt: boolean; sizeBytes: number }> {
    const size = await this.#options.images.measure(digest);
    if (size === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its image is gone' } });
    return { isBuilt: !isCatalogDigest(digest), sizeBytes: size.bytes + (size.entries + 1) * ENTRY_BYTES };
  }

  async *readBase(digest: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { images, helperBinaries } = this.#options;
    const image = await images.byDigest(digest);
    if (image === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its image is gone' } });
    yield writeHeader(image.settings);
    const { archive, ended } = packLayers((await helperBinaries(process.arch)).file, image.layers, signal);
    try {
      yield* archive as AsyncIterable<Buffer>;
      const complaint = await ended;
      if (complaint !== null) throw new Error(complaint);
    } finally {
      archive.destroy();
    }
  }

  async addBase(digest: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    const reader = new PieceReader(content);
    try {
      const settings = (await readHeader(reader)) as ImageSettings; // written by `readBase`, and sealed since
      const layer = Readable.from(reader.rest(), { objectMode: false });
      await this.#options.images.adopt(digest, settings, layer, signal);
    } finally {
      await reader.close();
    }
  }

  async mayContinue(id: string): Promise<boolean> {
    const parents = [CONTROL_GROUPS, ...(await foldersIn(CONTROL_GROUPS)).map((name) => join(CONTROL_GROUPS, name))];
    for (const parent of parents) {
      const processes = await readFile(join(parent, PARENT_GROUP, id, 'cgroup.procs'), 'utf8').catch(() => ''); // no group
      if (processes.trim() !== '') return false;
    }
    return true;
  }

  async create(spec: SandboxSpec, archive: ArchiveSource, signal: AbortSignal): Promise<void> {
    const disk = this.#options.diskOf(spec.id);
    await mkdir(dirname(disk), { recursive: true, mode: 0o700 });
    const copy = join(dirname(disk), 'archive.img');
    if (archive.base === null) throw sandboxErrors.ARCHIVE_DAMAGED();
    await this.#provideImage(spec.id, archive.base, archive, signal);
    const reader = new PieceReader(takingDiskRoom(this.#options.disk ?? unlimitedDisk, archive.open()));
    try {
      const { digest, sizeBytes } = (await readHeader(reader)) as DiskHeader; // written by `read`, and sealed since
      if (digest !== archive.base) throw sandboxErrors.ARCHIVE_DAMAGED();
      await writeDisk(copy, sizeBytes, reader, signal);
      await this.#options.adopt(spec, copy, digest);
    } finally {
      await reader.close();
      await rm(copy, { force: true });
    }
  }

  /** The sandbox holds its image, so that it is not removed. */
  async #provideImage(sandboxId: string, digest: string, archive: ArchiveSource, signal: AbortSignal): Promise<void> {
    const { images } = this.#options;
    if ((await images.claimDigest(sandboxId, digest)) !== null) return;
    const base = await archive.openBase();
    if (base === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'the image of its snapshot is gone' } });
    await this.addBase(digest, base, signal);
    if ((await images.claimDigest(sandboxId, digest)) !== null) return;
    throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'the image of its snapshot is gone' } });
  }
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []); // then nothing runs in any
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function writeRecord(offset: number, lengthBytes: number): Buffer {
  const record = Buffer.alloc(RECORD_BYTES);
  record.writeBigUInt64BE(BigInt(offset));
  record.writeUInt32BE(lengthBytes, 8);
  return record;
}

/** Writes a sparse file, which is complete and on disk when this resolves. */
async function writeDisk(path: string, sizeBytes: number, reader: PieceReader, signal: AbortSignal): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.truncate(sizeBytes);
    for (;;) {
      signal.throwIfAborted();
      const record = await reader.exactly(RECORD_BYTES);
      const offset = Number(record.readBigUInt64BE());
      const lengthBytes = record.readUInt32BE(8);
      if (lengthBytes === 0) break;
      if (lengthBytes > BLOCK_BYTES || offset + lengthBytes > sizeBytes) throw sandboxErrors.ARCHIVE_DAMAGED();
      await writeAt(file, await reader.exactly(lengthBytes), offset);
    }
    // The seal of the last piece shows that nothing is missing.
    if ((await reader.upTo(1)).length > 0) throw sandboxErrors.ARCHIVE_DAMAGED();
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeAt(file: FileHandle, content: Buffer, offset: number): Promise<void> {
  for (let written = 0; written < content.length;) {
    const { bytesWritten } = await file.write(content, written, content.length - written, offset + written);
    written += bytesWritten;
  }
}
