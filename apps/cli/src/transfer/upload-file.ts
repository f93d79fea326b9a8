import { open, type FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CommandFailure } from '../client/command-failure.ts';
import { CrcJoiner, crcToBase64 } from '../s3/crc.ts';
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
import { crcOfRange, rangeBody } from './file-bytes.ts';
import { Journal } from './journal.ts';
import { forEachParallel } from './limiter.ts';
import { partSizeFor, planParts, type PlannedPart } from './part-plan.ts';
import type { TransferContext } from './transfer-context.ts';

export interface FileUpload {
  path: string;
  bucket: string;
  key: string;
  /** Content type, metadata and the like. */
  headers: Readonly<Record<string, string>>;
}

/** The file as it was when its upload began. */
interface UploadEntry {
  uploadId: string;
  sizeBytes: number;
  modifiedAtNs: string;
  partSizeBytes: number;
  /** Of the customer's own key, if there is one: parts under another do not fit. */
  keyMd5: string | null;
}

/**
 * Sends a file. The platform checks every body against its CRC-32, and the whole against the joined one. Large files go in
 * parts; after an interruption only parts that are missing are sent, as long as the file is the same.
 */
export async function uploadFile(context: TransferContext, upload: FileUpload): Promise<number> {
  const file = await open(upload.path);
  try {
    const before = await file.stat({ bigint: true });
    if (!before.isFile()) throw new CommandFailure(`${upload.path} is no ordinary file`);
    const sizeBytes = Number(before.size);
    const partSizeBytes = partSizeFor(sizeBytes, context.partSizeBytes);
    if (sizeBytes <= partSizeBytes) await uploadWhole(context, file, upload, sizeBytes);
    else {
      const keyMd5 = context.customerKey?.md5Base64 ?? null;
      const now = { sizeBytes, partSizeBytes, modifiedAtNs: String(before.mtimeNs), keyMd5 };
      await uploadInParts(context, file, upload, now);
    }
    const after = await file.stat({ bigint: true });
    if (after.size !== before.size || after.mtimeNs !== before.mtimeNs) {
      throw new CommandFailure(`${upload.path} was changed while it was read`, {
        hint: 'what is stored may be neither',
      });
    }
    return sizeBytes;
  } finally {
    await file.close();
  }
}

async function uploadWhole(
  { client, limiter, progress, signal, customerKey }: TransferContext,
  file: FileHandle,
  { bucket, key, headers }: FileUpload,
  sizeBytes: number,
): Promise<void> {
  const range = { start: 0, endExclusive: sizeBytes };
  await limiter.run(async () => {
    const crc = await crcOfRange(file, range, 'crc32');
    const checksum = { 'x-amz-checksum-crc32': crcToBase64('crc32', crc) };
    const all = { ...headers, ...customerKeyHeaders(customerKey), ...checksum };
    const body = rangeBody(file, range, progress.body());
    await client.sendForText({ method: 'PUT', bucket, key, headers: all, body, signal });
  });
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
    const work = (): Promise<SentPart> => sendOrKeep(context, file, part, { ...name, signal: either }, arrived);
    sent.push(
      await context.limiter.run(work).catch((error: unknown) => {
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

/** A part that has arrived counts only when its checksum is that of the file's bytes now. */
async function sendOrKeep(
  { client, progress }: TransferContext,
  file: FileHandle,
  part: PlannedPart,
  name: UploadName,
  arrived: ReadonlyMap<number, SentPart>,
): Promise<SentPart> {
  name.signal.throwIfAborted();
  const crc32 = await crcOfRange(file, part, 'crc32');
  const known = arrived.get(part.partNumber);
  const body = rangeBody(file, part, progress.body());
  if (known !== undefined && known.sizeBytes === body.sizeBytes && known.crc32 === crc32) {
    progress.body().add(body.sizeBytes);
    return known;
  }
  return await sendPart(client, { ...name, partNumber: part.partNumber, crc32, body });
}
