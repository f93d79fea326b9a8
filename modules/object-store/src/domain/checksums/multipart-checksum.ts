import type { ChecksumAlgorithm, ChecksumType } from './algorithms.ts';
import { CrcCombiner, type CombinableCrc } from './crc-combine.ts';
import { createHasher, type HashKernels } from './hasher.ts';

export interface PartChecksum {
  sizeBytes: number;
  checksum: { algorithm: ChecksumAlgorithm; value: string } | null;
}

export interface WholeChecksum {
  algorithm: ChecksumAlgorithm;
  type: ChecksumType;
  value: string;
}

/** The checksum of checksums, with how many they are: for what cannot be joined. */
export function compositeChecksum(
  kernels: HashKernels,
  algorithm: ChecksumAlgorithm,
  values: readonly string[],
): WholeChecksum {
  const hasher = createHasher(kernels, algorithm);
  for (const value of values) hasher.update(Buffer.from(value, 'base64'));
  return { algorithm, type: 'COMPOSITE', value: `${hasher.digest().toString('base64')}-${values.length}` };
}

/**
 * The CRC of a multipart object from those of its parts, without a look at the bytes; without a wish it is CRC64NVME. Null
 * when a part lacks the one that is needed.
 */
export function joinedChecksum(
  algorithm: ChecksumAlgorithm | null,
  parts: readonly PartChecksum[],
): WholeChecksum | null {
  const wanted = algorithm ?? 'CRC64NVME';
  const digests: Buffer[] = [];
  for (const { checksum } of parts) {
    if (checksum?.algorithm !== wanted) return null;
    digests.push(Buffer.from(checksum.value, 'base64'));
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
