import { objectPath } from '@svc/s3-sign';
import { parseS3Error } from '../s3/s3-error.ts';
import { abortUpload, completeUpload, startUpload, type SentPart } from '../s3/s3-multipart.ts';
import { getObjectTags, headObject, listObjectParts, type RemoteObject } from '../s3/s3-operations.ts';
import { childText, parseXml } from '../s3/xml.ts';
import { grantHeaders, type GivenAttributes } from './attribute-options.ts';
import { copySourceKeyHeaders, customerKeyHeaders } from './customer-key.ts';
import { BodyLimiter, forEachParallel } from './body-limiter.ts';
import { partsOfSizes, planParts, type PlannedPart } from './part-plan.ts';
import type { TransferContext } from './transfer-context.ts';

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
function describedBy(headers: Headers): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name]) => OF_THE_OBJECT.includes(name) || name.startsWith('x-amz-meta-'),
  );
  return Object.fromEntries(kept);
}

/** Requests the same checksum as the source: a store that knows those of its parts then need not read them. */
function checksumOf(headers: Headers): Record<string, string> {
  const algorithm = ALGORITHMS.find((name) => headers[`x-amz-checksum-${name.toLowerCase()}`] !== undefined);
  if (algorithm === undefined) return {};
  const type = headers['x-amz-checksum-type'];
  return {
    'x-amz-checksum-algorithm': algorithm,
    // SHA-1 and SHA-256 of parts cannot be combined (user guide, "Checking object integrity").
    ...(type === undefined || algorithm.startsWith('SHA') ? {} : { 'x-amz-checksum-type': type }),
  };
}

const GiB = 1024 ** 3;
/** Maximum size of a copy in one request in S3. */
const MOST_BYTES = 5 * GiB;

export interface ObjectCopy {
  bucket: string;
  object: RemoteObject;
  to: { bucket: string; key: string };
  /** Attributes that differ from the source. */
  attributes: GivenAttributes;
}

/** Copies within the platform; no bytes pass through this machine. Keeps headers, metadata and tags. */
export async function copyObject(context: TransferContext, copy: ObjectCopy): Promise<number> {
  const { object } = copy;
  if (object.sizeBytes > MOST_BYTES) await copyInParts(context, copy);
  else await context.limiter.run(0, () => copyWhole(context, copy));
  context.progress.body().add(object.sizeBytes);
  return object.sizeBytes;
}

async function copyWhole(context: TransferContext, copy: ObjectCopy): Promise<void> {
  const { attributes } = copy;
  const headers = grantHeaders(attributes);
  if (attributes.tagging !== null) headers['x-amz-tagging-directive'] = 'REPLACE';
  if (Object.keys(attributes.described).length > 0) {
    // S3 replaces all attributes or none, so resend those that stay the same.
    const source = await headSource(context, copy);
    Object.assign(headers, describedBy(source), attributes.described, { 'x-amz-metadata-directive': 'REPLACE' });
  }
  await copyCall(context, copy, { query: {}, headers });
}

async function copyCall(
  { client, signal, customerKey, sourceCustomerKey }: TransferContext,
  { bucket, object, to }: ObjectCopy,
  { query, headers }: { query: Readonly<Record<string, string>>; headers: Readonly<Record<string, string>> },
): Promise<string> {
  const source = {
    'x-amz-copy-source': `${objectPath(bucket, object.key)}${versionSuffix(object)}`,
    'x-amz-copy-source-if-match': `"${object.etag}"`,
    ...copySourceKeyHeaders(sourceCustomerKey),
  };
  const { text } = await client.sendForText({
    method: 'PUT',
    ...to,
    query,
    headers: { ...headers, ...customerKeyHeaders(customerKey), ...source },
    signal,
  });
  const root = parseXml(text);
  // As with completion, S3 may respond with 200 early (API reference, CopyObject).
  if (root.name === 'Error') throw parseS3Error(500, null, text);
  return (childText(root, 'ETag') ?? '').replaceAll('"', '');
}

function versionSuffix({ versionId }: RemoteObject): string {
  return versionId === undefined ? '' : `?versionId=${encodeURIComponent(versionId)}`;
}

/** Copies as a multipart upload; S3 does not copy the source's attributes, so we do. */
async function copyInParts(context: TransferContext, copy: ObjectCopy): Promise<void> {
  const { client, signal } = context;
  const source = await headSource(context, copy);
  const { described, ...given } = copy.attributes;
  const tagging = given.tagging ?? (await taggingOfSource(context, copy, source));
  const uploadId = await startUpload(client, {
    ...copy.to,
    headers: { ...describedBy(source), ...described, ...grantHeaders({ ...given, tagging }), ...checksumOf(source) },
    checksum: false,
    customerKey: customerKeyHeaders(context.customerKey),
    signal,
  });
  const name = { ...copy.to, uploadId, signal, customerKey: customerKeyHeaders(context.customerKey) };
  const parts: SentPart[] = [];
  try {
    const atOnce = BodyLimiter.mostOf(context.parallel);
    await forEachParallel(await planCopy(context, copy), atOnce, async (part) => {
      const { partNumber, start, endExclusive } = part;
      const query = { uploadId, partNumber: String(partNumber) };
      const headers = { 'x-amz-copy-source-range': `bytes=${start}-${endExclusive - 1}` };
      const etag = await context.limiter.run(0, () => copyCall(context, copy, { query, headers }));
      parts.push({ partNumber, etag, sizeBytes: endExclusive - start, crc32: null });
    });
    await completeUpload(client, { ...name, parts, crc32: null });
  } catch (error) {
    await abortUpload(client, { ...name, signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    throw error;
  }
}

/** Plans with the source's own parts if known: the store can reuse those without reading them. */
async function planCopy(
  { client, signal, sourceCustomerKey }: TransferContext,
  { bucket, object }: ObjectCopy,
): Promise<PlannedPart[]> {
  const headers = customerKeyHeaders(sourceCustomerKey);
  const { key, versionId, sizeBytes } = object;
  const sizes = await listObjectParts(client, { bucket, key, versionId, headers, signal });
  return partsOfSizes(sizes, sizeBytes) ?? planParts(sizeBytes, GiB);
}

async function headSource(
  { client, signal, sourceCustomerKey }: TransferContext,
  { bucket, object: { key, versionId } }: ObjectCopy,
): Promise<Readonly<Record<string, string>>> {
  const headers = customerKeyHeaders(sourceCustomerKey);
  const { headers: answered } = await headObject(client, { bucket, key, versionId, headers, signal });
  return Object.fromEntries(
    Object.entries(answered).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

async function taggingOfSource(
  { client, signal }: TransferContext,
  { bucket, object: { key, versionId } }: ObjectCopy,
  source: Readonly<Record<string, string>>,
): Promise<string | null> {
  if (source['x-amz-tagging-count'] === undefined) return null;
  const tags = await getObjectTags(client, { bucket, key, versionId, signal });
  return tags.map(({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
}
