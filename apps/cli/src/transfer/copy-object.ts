import type { RemoteObject } from '../s3/s3-operations.ts';
import { s3ErrorOf } from '../s3/s3-error.ts';
import { abortUpload, completeUpload, startUpload, type SentPart } from '../s3/s3-multipart.ts';
import { objectPath } from '../s3/sigv4.ts';
import { childText, parseXml } from '../s3/xml.ts';
import { forEachParallel } from './limiter.ts';
import { planParts } from './part-plan.ts';
import type { TransferContext } from './transfer-context.ts';

const GiB = 1024 ** 3;
/** S3 copies no more in one request. */
const MOST_BYTES = 5 * GiB;

export interface ObjectCopy {
  bucket: string;
  object: RemoteObject;
  to: { bucket: string; key: string };
}

/** From bucket to bucket inside the platform: no byte comes here. */
export async function copyObject(context: TransferContext, copy: ObjectCopy): Promise<number> {
  const { object } = copy;
  if (object.sizeBytes > MOST_BYTES) await copyInParts(context, copy);
  else await context.limiter.run(() => copyCall(context, copy, { query: {}, headers: {} }));
  context.progress.body().add(object.sizeBytes);
  return object.sizeBytes;
}

async function copyCall(
  { client, signal }: TransferContext,
  { bucket, object, to }: ObjectCopy,
  { query, headers }: { query: Readonly<Record<string, string>>; headers: Readonly<Record<string, string>> },
): Promise<string> {
  const source = {
    'x-amz-copy-source': `${objectPath(bucket, object.key)}${versionSuffix(object)}`,
    'x-amz-copy-source-if-match': `"${object.etag}"`,
  };
  const { text } = await client.sendForText({
    method: 'PUT',
    ...to,
    query,
    headers: { ...headers, ...source },
    signal,
  });
  const root = parseXml(text);
  // As with completion: S3 may answer 200 before it knows (API reference, CopyObject).
  if (root.name === 'Error') throw s3ErrorOf(500, null, text);
  return (childText(root, 'ETag') ?? '').replaceAll('"', '');
}

function versionSuffix({ versionId }: RemoteObject): string {
  return versionId === undefined ? '' : `?versionId=${encodeURIComponent(versionId)}`;
}

async function copyInParts(context: TransferContext, copy: ObjectCopy): Promise<void> {
  const { client, signal } = context;
  const uploadId = await startUpload(client, { ...copy.to, headers: {}, checksum: false, signal });
  const name = { ...copy.to, uploadId, signal };
  const parts: SentPart[] = [];
  try {
    await forEachParallel(planParts(copy.object.sizeBytes, GiB), context.parallel, async (part) => {
      const { partNumber, start, endExclusive } = part;
      const query = { uploadId, partNumber: String(partNumber) };
      const headers = { 'x-amz-copy-source-range': `bytes=${start}-${endExclusive - 1}` };
      const etag = await context.limiter.run(() => copyCall(context, copy, { query, headers }));
      parts.push({ partNumber, etag, sizeBytes: endExclusive - start, crc32: null });
    });
    await completeUpload(client, { ...name, parts, crc32: null });
  } catch (error) {
    await abortUpload(client, { ...name, signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    throw error;
  }
}
