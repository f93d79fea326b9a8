import { crcToBase64 } from './crc.ts';
import type { RequestBody, S3Client } from './s3-client.ts';
import { parseS3Error } from './s3-error.ts';
import { childrenOf, childText, escapeXml, parseXml } from './xml.ts';

export interface UploadName {
  bucket: string;
  key: string;
  uploadId: string;
  /** Customer key headers (SSE-C), if used; every step needs them. */
  customerKey?: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

export interface SentPart {
  partNumber: number;
  etag: string;
  sizeBytes: number;
  /** Null if the part was sent without one. */
  crc32: bigint | null;
}

/** Parts carry their CRC-32; the combined CRC proves the whole. */
const WITH_CRC32 = { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'FULL_OBJECT' };

export async function startUpload(
  client: S3Client,
  {
    headers,
    checksum = true,
    customerKey,
    ...name
  }: Omit<UploadName, 'uploadId'> & { headers: Readonly<Record<string, string>>; checksum?: boolean },
): Promise<string> {
  const all = { ...headers, ...customerKey, ...(checksum ? WITH_CRC32 : {}) };
  const { text } = await client.sendForText({ method: 'POST', ...name, query: { uploads: '' }, headers: all });
  return childText(parseXml(text), 'UploadId') ?? '';
}

/** Lists the uploaded parts. */
export async function listParts(client: S3Client, { uploadId, customerKey, ...name }: UploadName): Promise<SentPart[]> {
  const found: SentPart[] = [];
  let marker: string | undefined;
  do {
    const query = { uploadId, ...(marker === undefined ? {} : { 'part-number-marker': marker }) };
    const root = parseXml(
      (await client.sendForText({ method: 'GET', ...name, query, headers: { ...customerKey } })).text,
    );
    for (const part of childrenOf(root, 'Part')) {
      const crc = childText(part, 'ChecksumCRC32');
      found.push({
        partNumber: Number(childText(part, 'PartNumber')),
        etag: (childText(part, 'ETag') ?? '').replaceAll('"', ''),
        sizeBytes: Number(childText(part, 'Size')),
        crc32: crc === undefined ? null : BigInt(`0x${Buffer.from(crc, 'base64').toString('hex') || '0'}`),
      });
    }
    marker = childText(root, 'IsTruncated') === 'true' ? childText(root, 'NextPartNumberMarker') : undefined;
  } while (marker !== undefined);
  return found;
}

export async function sendPart(
  client: S3Client,
  {
    uploadId,
    partNumber,
    crc32,
    body,
    customerKey,
    ...name
  }: UploadName & { partNumber: number; crc32: bigint; body: RequestBody },
): Promise<SentPart> {
  const query = { uploadId, partNumber: String(partNumber) };
  const headers = { ...customerKey, 'x-amz-checksum-crc32': crcToBase64('crc32', crc32) };
  const answer = await client.sendForText({ method: 'PUT', ...name, query, headers, body });
  return { partNumber, crc32, sizeBytes: body.sizeBytes, etag: (answer.headers.etag ?? '').replaceAll('"', '') };
}

/** Completes the upload. `crc32` covers the whole object; null relies on the parts. */
export async function completeUpload(
  client: S3Client,
  { uploadId, parts, crc32, customerKey, ...name }: UploadName & { parts: readonly SentPart[]; crc32: bigint | null },
): Promise<string> {
  const elements = parts
    .toSorted((left, right) => left.partNumber - right.partNumber)
    .map(
      ({ partNumber, etag }) =>
        `<Part><PartNumber>${partNumber}</PartNumber><ETag>${escapeXml(`"${etag}"`)}</ETag></Part>`,
    );
  const content = Buffer.from(`<CompleteMultipartUpload>${elements.join('')}</CompleteMultipartUpload>`);
  const checksum =
    crc32 === null ? {} : { 'x-amz-checksum-crc32': crcToBase64('crc32', crc32), 'x-amz-checksum-type': 'FULL_OBJECT' };
  const headers = { ...customerKey, ...checksum };
  const body = { sizeBytes: content.length, open: () => content };
  const { text } = await client.sendForText({ method: 'POST', ...name, query: { uploadId }, headers, body });
  const root = parseXml(text);
  // S3 may respond with 200 early and report a failure in the body (API reference, CompleteMultipartUpload).
  if (root.name === 'Error') throw parseS3Error(500, null, text);
  return (childText(root, 'ETag') ?? '').replaceAll('"', '');
}

export async function abortUpload(client: S3Client, { bucket, key, uploadId, signal }: UploadName): Promise<void> {
  await client.sendForText({ method: 'DELETE', bucket, key, query: { uploadId }, signal });
}
