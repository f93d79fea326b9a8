import { freeAfter } from '@svc/bytes';
import { finishRegister, initialRegister, type CrcKernel } from '../checksums/crc-kernel.ts';
import type { BlobStore } from '../ports/blob-store.ts';
import type { MetadataQueries } from '../ports/metadata-store.ts';
import { isAppError } from '@svc/errors';

export interface CopyReport {
  /** Number of blobs that rows need. */
  blobs: number;
  /** Blobs that were missing from the target. */
  copied: number;
  copiedBytes: number;
  /** Blobs that are lost or damaged at the source. At most 1,000 are listed. */
  bad: readonly string[];
}

export interface CopyDeps {
  /** The blobs to copy. */
  rows: Pick<MetadataQueries, 'neededBlobs' | 'findBlob'>;
  source: BlobStore;
  target: BlobStore;
  kernel: CrcKernel;
  signal?: AbortSignal;
}

const BATCH = 1_000;
const MOST_BAD = 1_000;

/**
 * Copies every blob that rows need to the target, and verifies each. Skips blobs that the target already has in full.
 */
export async function copyBlobs(deps: CopyDeps): Promise<CopyReport> {
  const { rows, target, signal } = deps;
  const bad: string[] = [];
  const report = { blobs: 0, copied: 0, copiedBytes: 0 };
  for (let after = ''; ;) {
    const batch = await rows.neededBlobs({ after, limit: BATCH });
    for (const { blobId, storedBytes } of batch) {
      signal?.throwIfAborted();
      report.blobs += 1;
      if ((await target.size(blobId)) === storedBytes) continue;
      if (await copyBlob(deps, blobId, storedBytes)) {
        report.copied += 1;
        report.copiedBytes += storedBytes;
      } else if (bad.length < MOST_BAD) bad.push(blobId);
    }
    const last = batch.at(-1);
    if (last === undefined) return { ...report, bad };
    after = last.blobId;
  }
}

/** False if the source does not have the original bytes. */
async function copyBlob(
  { rows, source, target, kernel }: CopyDeps,
  blobId: string,
  sizeBytes: number,
): Promise<boolean> {
  const expected = (await rows.findBlob({ blobId }))?.crc64nvme ?? null;
  const writer = await target.createAs(blobId, sizeBytes);
  try {
    let register = initialRegister('CRC64NVME');
    for await (const chunk of source.read(blobId, { start: 0, endExclusive: sizeBytes })) {
      register = kernel.update('CRC64NVME', register, chunk);
      const copy = Buffer.from(chunk); // the source reuses its buffer
      await writer.write(copy, freeAfter(copy, 1));
    }
    if (expected !== null && expected !== finishRegister('CRC64NVME', register).toString('hex')) {
      await writer.abort();
      return false;
    }
    await writer.seal();
    return true;
  } catch (error) {
    await writer.abort();
    if (isAppError(error) && error.code === 'DataLost') return false;
    throw error;
  }
}
