/** The checksums of the S3 API, as named in its XML. */
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

/** Digests that can be computed over a body. MD5 is also used for ETags and `Content-MD5`. */
export type DigestName = ChecksumAlgorithm;

export type DigestResults = Partial<Record<DigestName, Buffer>>;

export function parseChecksumAlgorithm(name: string): ChecksumAlgorithm | null {
  const upper = name.toUpperCase();
  return CHECKSUM_ALGORITHMS.find((algorithm) => algorithm === upper) ?? null;
}

/** Whether a value is base64. A value of the wrong length for its algorithm counts as a digest that does not match. */
export function isBase64(value: string): boolean {
  return /^[A-Za-z0-9+/]{1,128}={0,2}$/.test(value);
}

/** Header name, such as `x-amz-checksum-crc32`. */
export function checksumHeaderName(algorithm: ChecksumAlgorithm): string {
  return `x-amz-checksum-${algorithm.toLowerCase()}`;
}

/** Part CRCs can be combined into the CRC of the whole; hashes cannot. */
export function canBeFullObject(algorithm: ChecksumAlgorithm): boolean {
  return algorithm.startsWith('CRC');
}
