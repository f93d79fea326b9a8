/** The checksums of the S3 API, by the names that its XML uses. */
export const CHECKSUM_ALGORITHMS = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const;
export type ChecksumAlgorithm = (typeof CHECKSUM_ALGORITHMS)[number];

/** Over the whole object, or over the checksums of its parts. */
export type ChecksumType = 'FULL_OBJECT' | 'COMPOSITE';

/** What a body can be hashed with: the checksums, and MD5 for ETags and `Content-MD5`. */
export type DigestName = ChecksumAlgorithm | 'MD5';

export type DigestResults = Partial<Record<DigestName, Buffer>>;

const DIGEST_BYTES: Readonly<Record<ChecksumAlgorithm, number>> = {
  CRC32: 4,
  CRC32C: 4,
  CRC64NVME: 8,
  SHA1: 20,
  SHA256: 32,
};

export function parseChecksumAlgorithm(name: string): ChecksumAlgorithm | null {
  const upper = name.toUpperCase();
  return CHECKSUM_ALGORITHMS.find((algorithm) => algorithm === upper) ?? null;
}

/** Whether this is the base64 of as many bytes as the algorithm makes. */
export function isChecksumValue(algorithm: ChecksumAlgorithm, value: string): boolean {
  const bytes = Buffer.from(value, 'base64');
  return bytes.length === DIGEST_BYTES[algorithm] && bytes.toString('base64') === value;
}

/** `x-amz-checksum-crc32` and its siblings. */
export function checksumHeaderName(algorithm: ChecksumAlgorithm): string {
  return `x-amz-checksum-${algorithm.toLowerCase()}`;
}

/** CRCs of parts can be joined to the CRC of the whole; hashes cannot. */
export function canBeFullObject(algorithm: ChecksumAlgorithm): boolean {
  return algorithm.startsWith('CRC');
}
