/** The checksums of the S3 API, by the names that its XML uses. */
export const CHECKSUM_ALGORITHMS = [
  'CRC32',
  'CRC32C',
  'CRC64NVME',
  'MD5',
  'SHA1',
  'SHA256',
  'SHA512',
  'XXHASH128',
  'XXHASH3',
  'XXHASH64',
] as const;
export type ChecksumAlgorithm = (typeof CHECKSUM_ALGORITHMS)[number];

/** Over the whole object, or over the checksums of its parts. */
export type ChecksumType = 'FULL_OBJECT' | 'COMPOSITE';

/** What a body can be hashed with: the checksums, of which MD5 is in ETags and `Content-MD5` too. */
export type DigestName = ChecksumAlgorithm;

export type DigestResults = Partial<Record<DigestName, Buffer>>;

export function parseChecksumAlgorithm(name: string): ChecksumAlgorithm | null {
  const upper = name.toUpperCase();
  return CHECKSUM_ALGORITHMS.find((algorithm) => algorithm === upper) ?? null;
}

/**
 * Whether this is text of base64 at all. One of another length than the algorithm's is a digest like any other, that does
 * not match.
 */
export function isBase64(value: string): boolean {
  return /^[A-Za-z0-9+/]{1,128}={0,2}$/.test(value);
}

/** `x-amz-checksum-crc32` and its siblings. */
export function checksumHeaderName(algorithm: ChecksumAlgorithm): string {
  return `x-amz-checksum-${algorithm.toLowerCase()}`;
}

/** CRCs of parts can be joined to the CRC of the whole; hashes cannot. */
export function canBeFullObject(algorithm: ChecksumAlgorithm): boolean {
  return algorithm.startsWith('CRC');
}
