import { isAppError } from '@svc/errors';
import { finishRegister, initialRegister, type CrcKernel } from '../checksums/crc-kernel.ts';
import type { BlobStore } from '../ports/blob-store.ts';
import type { BlobRecord, BlobState } from '../ports/blobs.ts';

export interface Verdict {
  state: BlobState;
  /** Checksum of the stored bytes. Null if they are incomplete. */
  crc64nvme: string | null;
}

/**
 * Reads a whole blob. Throws if it cannot be read at the moment (unreachable engine, failing disk), which says nothing
 * about the bytes. Calls `onBytes` as they arrive, which may delay reading.
 */
export async function verifyBlob(
  { blobs, kernel }: { blobs: BlobStore; kernel: CrcKernel },
  record: Pick<BlobRecord, 'blobId' | 'sizeBytes' | 'crc64nvme'>,
  onBytes: (count: number) => Promise<void> | undefined = () => undefined,
): Promise<Verdict> {
  const sizeBytes = await blobs.size(record.blobId);
  if (sizeBytes === null) return { state: 'missing', crc64nvme: null };
  let register = initialRegister('CRC64NVME');
  try {
    for await (const chunk of blobs.read(record.blobId, { start: 0, endExclusive: sizeBytes })) {
      register = kernel.update('CRC64NVME', register, chunk);
      await onBytes(chunk.length);
    }
  } catch (error) {
    // The blob was there a moment ago: it was removed, or is shorter than its size.
    if (!isAppError(error) || error.code !== 'DataLost') throw error;
    return { state: (await blobs.size(record.blobId)) === null ? 'missing' : 'damaged', crc64nvme: null };
  }
  const crc64nvme = finishRegister('CRC64NVME', register).toString('hex');
  const good = sizeBytes === record.sizeBytes && (record.crc64nvme === null || record.crc64nvme === crc64nvme);
  return { state: good ? 'good' : 'damaged', crc64nvme };
}
