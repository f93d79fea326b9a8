import { open, type FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createCrc, CrcJoiner, crcToBase64 } from '../s3/crc.ts';
import type { RequestBody } from '../s3/s3-client.ts';
import { S3Error } from '../s3/s3-error.ts';
import {
  abortUpload,
  completeUpload,
  listParts,
  sendPart,
  startUpload,
  type SentPart,
  type UploadName,
} from '../s3/s3-multipart.ts';
import { customerKeyHeaders } from './customer-key.ts';
import { bytesBody, crcOfRange, rangeBody, readInto, type FileRange } from './file-bytes.ts';
import { Journal } from './journal.ts';
import { forEachParallel, SMALL_BYTES } from './body-limiter.ts';
import { partSizeFor, planParts } from './part-plan.ts';
import type { BodyProgress } from './progress.ts';
import { changedWhileRead, readSmallFile } from './small-files.ts';
import type { TransferContext } from './transfer-context.ts';

export interface FileUpload {
  path: string;
  bucket: string;
  key: string;
  /** Content type, metadata and the like. */
  headers: Readonly<Record<string, string>>;
}

/** Larger ranges are not buffered. */
const MOST_BUFFERED_BYTES = 32 * 1024 * 1024;

/** The file at the start of its upload. */
interface UploadEntry {
  uploadId: string;
  sizeBytes: number;
  modifiedAtNs: string;
  partSizeBytes: number;
  /** MD5 of the customer key, if any; parts under another key do not match. */
  keyMd5: string | null;
}

/**
 * Uploads a file. The platform verifies every body by its CRC-32, and the whole by the combined one. Large files are
 * sent in parts; after an interruption, only missing parts are sent if the file has not changed.
 */
export async function uploadFile(context: TransferContext, upload: FileUpload): Promise<number> {
  const small = readSmallFile(upload.path, SMALL_BYTES);
  if (small !== null) {
    const content = createContent(small, context.progress.body());
    await context.limiter.run(small.length, () => putContent(context, upload, content));
    return small.length;
  }
  const file = await open(upload.path);
  try {
    const before = await file.stat({ bigint: true });
    const sizeBytes = Number(before.size);
    const partSizeBytes = partSizeFor(sizeBytes, context.partSizeBytes);
    if (sizeBytes <= partSizeBytes) await uploadWhole(context, file, upload, sizeBytes);
    else {
      const keyMd5 = context.customerKey?.md5Base64 ?? null;
      const now = { sizeBytes, partSizeBytes, modifiedAtNs: String(before.mtimeNs), keyMd5 };
      await uploadInParts(context, file, upload, now);
    }
    const after = await file.stat({ bigint: true });
    if (after.size !== before.size || after.mtimeNs !== before.mtimeNs) throw changedWhileRead(upload.path);
    return sizeBytes;
  } finally {
    await file.close();
  }
}

async function uploadWhole(
  context: TransferContext,
  file: FileHandle,
  upload: FileUpload,
  sizeBytes: number,
): Promise<void> {
  const range = { start: 0, endExclusive: sizeBytes };
  await context.limiter.run(sizeBytes, () =>
    withRange(context, { file, path: upload.path }, range, (content) => putContent(context, upload, content)),
  );
}

async function putContent(
  { client, signal, customerKey }: TransferContext,
  { bucket, key, headers }: FileUpload,
  { crc32, body }: Content,
): Promise<void> {
  const checksum = { 'x-amz-checksum-crc32': crcToBase64('crc32', crc32) };
  const all = { ...headers, ...customerKeyHeaders(customerKey), ...checksum };
  await client.sendForText({ method: 'PUT', bucket, key, headers: all, body, signal });
}

interface Content {
  crc32: bigint;
  body: RequestBody;
}

/** Buffers a range to read it once for body and checksum; reads a larger one twice. */
async function withRange<Answer>(
  { buffers, progress }: TransferContext,
  { file, path }: { file: FileHandle; path: string },
  range: FileRange,
  use: (content: Content) => Promise<Answer>,
): Promise<Answer> {
  const sizeBytes = range.endExclusive - range.start;
  if (sizeBytes > MOST_BUFFERED_BYTES) {
    return await use({
      crc32: await crcOfRange(file, range, 'crc32'),
      body: rangeBody(file, range, progress.body()),
    });
  }
  const buffer = buffers.take(sizeBytes);
  if ((await readInto(buffer, file, range)) < sizeBytes) throw changedWhileRead(path);
  const answer = await use(createContent(buffer.subarray(0, sizeBytes), progress.body()));
  // Skipped after a failure, since the buffer may still be in use.
  buffers.release(buffer);
  return answer;
}

function createContent(bytes: Buffer, progress: BodyProgress): Content {
  const crc = createCrc('crc32');
  crc.update(bytes);
  return { crc32: crc.value(), body: bytesBody(bytes, progress) };
}

async function uploadInParts(
  context: TransferContext,
  file: FileHandle,
  upload: FileUpload,
  now: Omit<UploadEntry, 'uploadId'>,
): Promise<void> {
  const { client, signal } = context;
  const { bucket, key } = upload;
  const { endpoint } = await client.keys.get();
  const journal = new Journal<UploadEntry>(context.stateFolder, [
    'upload',
    endpoint,
    bucket,
    key,
    resolve(upload.path),
  ]);
  const { name, arrived } = await beginOrResume(context, upload, now, journal);
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const sent: SentPart[] = [];
  const plan = planParts(now.sizeBytes, now.partSizeBytes);
  await forEachParallel(plan, context.parallel, async (part) => {
    const work = (): Promise<SentPart> =>
      withRange(context, { file, path: upload.path }, part, (content) =>
        sendOrKeep(context, content, part.partNumber, { ...name, signal: either }, arrived),
      );
    sent.push(
      await context.limiter.run(part.endExclusive - part.start, work).catch((error: unknown) => {
        failed.abort(error);
        throw error;
      }),
    );
  });
  const joiner = new CrcJoiner('crc32');
  const ordered = sent.toSorted((left, right) => left.partNumber - right.partNumber);
  const crc32 = ordered.reduce((whole, part) => joiner.join(whole, part.crc32 ?? 0n, part.sizeBytes), 0n);
  await completeUpload(client, { ...name, parts: ordered, crc32 });
  await journal.remove();
}

async function beginOrResume(
  { client, signal, ...context }: TransferContext,
  { bucket, key, headers }: FileUpload,
  now: Omit<UploadEntry, 'uploadId'>,
  journal: Journal<UploadEntry>,
): Promise<{ name: UploadName; arrived: ReadonlyMap<number, SentPart> }> {
  const customerKey = customerKeyHeaders(context.customerKey);
  const entry = await journal.read();
  if (entry !== null) {
    const name = { bucket, key, uploadId: entry.uploadId, customerKey, signal };
    const same =
      entry.sizeBytes === now.sizeBytes &&
      entry.modifiedAtNs === now.modifiedAtNs &&
      entry.partSizeBytes === now.partSizeBytes &&
      entry.keyMd5 === now.keyMd5;
    try {
      if (same)
        return { name, arrived: new Map((await listParts(client, name)).map((part) => [part.partNumber, part])) };
      await abortUpload(client, name);
    } catch (error) {
      if (!(error instanceof S3Error) || error.status !== 404) throw error;
    }
  }
  const uploadId = await startUpload(client, { bucket, key, headers, customerKey, signal });
  await journal.write({ ...now, uploadId });
  return { name: { bucket, key, uploadId, customerKey, signal }, arrived: new Map() };
}

/** Keeps an uploaded part only if its checksum matches the file's current bytes. */
async function sendOrKeep(
  { client, progress }: TransferContext,
  { crc32, body }: Content,
  partNumber: number,
  name: UploadName,
  arrived: ReadonlyMap<number, SentPart>,
): Promise<SentPart> {
  name.signal.throwIfAborted();
  const known = arrived.get(partNumber);
  if (known === undefined || known.sizeBytes !== body.sizeBytes || known.crc32 !== crc32)
    return await sendPart(client, { ...name, partNumber, crc32, body });
  progress.body().add(body.sizeBytes);
  return known;
}
