import type { ChecksumAlgorithm, ChecksumType } from './algorithms.ts';
import { CrcCombiner, type CombinableCrc } from './crc-combine.ts';
import { CrcKernel } from './crc-kernel.ts';
import { createHasher } from './hasher.ts';

export interface PartChecksum {
  sizeBytes: number;
  checksum: { algorithm: ChecksumAlgorithm; value: string } | null;
}

export interface WholeChecksum {
  algorithm: ChecksumAlgorithm;
  type: ChecksumType;
  value: string;
}

/**
 * The checksum of a multipart object from those of its parts, without a look at the bytes. Without a wish it is the
 * CRC64NVME of the whole. Null when a part lacks the checksum that is needed.
 */
export function multipartChecksum(
  algorithm: ChecksumAlgorithm | null,
  type: ChecksumType | null,
  parts: readonly PartChecksum[],
): WholeChecksum | null {
  const wanted = algorithm ?? 'CRC64NVME';
  const digests: Buffer[] = [];
  for (const { checksum } of parts) {
    if (checksum?.algorithm !== wanted) return null;
    digests.push(Buffer.from(checksum.value, 'base64'));
  }
  if (type === 'COMPOSITE') {
    const hasher = createHasher(new CrcKernel(), wanted);
    for (const digest of digests) hasher.update(digest);
    return { algorithm: wanted, type, value: `${hasher.digest().toString('base64')}-${parts.length}` };
  }
  if (!isCombinable(wanted)) return null;
  return { algorithm: wanted, type: 'FULL_OBJECT', value: joined(wanted, digests, parts).toString('base64') };
}

function joined(crc: CombinableCrc, digests: readonly Buffer[], parts: readonly PartChecksum[]): Buffer {
  const combiner = new CrcCombiner(crc);
  let whole: Buffer | null = null;
  for (const [index, digest] of digests.entries()) {
    whole = whole === null ? digest : combiner.combine(whole, digest, parts[index]?.sizeBytes ?? 0);
  }
  return whole ?? Buffer.alloc(0);
}

function isCombinable(algorithm: ChecksumAlgorithm): algorithm is CombinableCrc {
  return algorithm === 'CRC32' || algorithm === 'CRC32C' || algorithm === 'CRC64NVME';
}
