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

/** Checksum of the part checksums, with the number of parts, for algorithms that cannot be combined. */
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
 * Combines the CRCs of parts into that of the object, without reading the bytes. Defaults to CRC64NVME. Null if a part
 * lacks the required checksum.
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
