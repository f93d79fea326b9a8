/** Response headers that belong to the object, besides its metadata. */
const OF_THE_OBJECT: readonly string[] = [
  'content-type',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'expires',
  'x-amz-website-redirect-location',
];

const ALGORITHMS: readonly string[] = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'];

type Headers = Readonly<Record<string, string>>;

/** Returns the headers that give a new object the same description as the one in the HEAD response. */
export function describedBy(headers: Headers): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name]) => OF_THE_OBJECT.includes(name) || name.startsWith('x-amz-meta-'),
  );
  return Object.fromEntries(kept);
}

/** Requests the same checksum as the source: a store that knows those of its parts then need not read them. */
export function checksumOf(headers: Headers): Record<string, string> {
  const algorithm = ALGORITHMS.find((name) => headers[`x-amz-checksum-${name.toLowerCase()}`] !== undefined);
  if (algorithm === undefined) return {};
  const type = headers['x-amz-checksum-type'];
  return {
    'x-amz-checksum-algorithm': algorithm,
    // SHA-1 and SHA-256 of parts cannot be combined (user guide, "Checking object integrity").
    ...(type === undefined || algorithm.startsWith('SHA') ? {} : { 'x-amz-checksum-type': type }),
  };
}
