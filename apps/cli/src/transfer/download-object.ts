import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, rename, rm, utimes, type FileHandle } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CommandFailure } from '../client/command-failure.ts';
import { CrcJoiner, crcToBase64, type CrcName } from '../s3/crc.ts';
import { headObject, versionQuery, type RemoteObject } from '../s3/s3-operations.ts';
import { proofsOf } from './content-proof.ts';
import { customerKeyHeaders } from './customer-key.ts';
import { crcOfRange, readRange } from './file-bytes.ts';
import { Journal, journalId } from './journal.ts';
import { forEachParallel } from './limiter.ts';
import { partSizeFor, planParts, type PlannedPart } from './part-plan.ts';
import { verified } from './read-object.ts';
import type { TransferContext } from './transfer-context.ts';

export interface ObjectDownload {
  bucket: string;
  object: RemoteObject;
  /** Replaced in one step once everything has arrived and is right. */
  path: string;
}

interface DownloadEntry {
  etag: string;
  sizeBytes: number;
  partSizeBytes: number;
  /** Numbers of the parts that are in the unfinished file. */
  parts: number[];
}

export async function downloadObject(context: TransferContext, download: ObjectDownload): Promise<number> {
  const { object, path } = download;
  const partSizeBytes = partSizeFor(object.sizeBytes, context.partSizeBytes);
  const unfinished =
    object.sizeBytes <= partSizeBytes
      ? await downloadWhole(context, download)
      : await downloadInParts(context, download, partSizeBytes);
  // So that a later sync sees that nothing is newer.
  const modifiedAt = new Date(object.modifiedAtMs);
  await utimes(unfinished, modifiedAt, modifiedAt);
  await rename(unfinished, path);
  return object.sizeBytes;
}

async function downloadWhole(context: TransferContext, { bucket, object, path }: ObjectDownload): Promise<string> {
  const { client, limiter, progress, signal, customerKey } = context;
  const unfinished = join(dirname(path), `.svc-${randomBytes(8).toString('hex')}.part`);
  try {
    await limiter.run(() =>
      withSecondTry(signal, async () => {
        const moved = progress.body();
        try {
          const wanted = { 'x-amz-checksum-mode': 'ENABLED', 'if-match': `"${object.etag}"` };
          const headers = { ...wanted, ...customerKeyHeaders(customerKey) };
          const query = versionQuery(object.versionId);
          const { body } = await client.send({ method: 'GET', bucket, key: object.key, query, headers, signal });
          await pipeline(verified(body, object.key, moved), createWriteStream(unfinished), { signal });
        } catch (error) {
          moved.restart();
          throw error;
        }
      }),
    );
    return unfinished;
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** A connection may break in the middle of a body; that is worth another try, a refusal is not. */
async function withSecondTry<Answer>(signal: AbortSignal, attempt: () => Promise<Answer>): Promise<Answer> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt();
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      const broken = code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'EPIPE';
      if (signal.aborted || tried >= 4 || !broken) throw error;
    }
  }
}

async function downloadInParts(
  context: TransferContext,
  download: ObjectDownload,
  partSizeBytes: number,
): Promise<string> {
  const { bucket, object, path } = download;
  const { endpoint } = await context.client.keys.get();
  const identity = ['download', endpoint, bucket, object.key, resolve(path)];
  const journal = new Journal<DownloadEntry>(context.stateFolder, identity);
  const unfinished = join(dirname(path), `.svc-${journalId(identity)}.part`);
  const now: DownloadEntry = { etag: object.etag, sizeBytes: object.sizeBytes, partSizeBytes, parts: [] };
  const entry = await journal.read();
  const same = entry !== null && JSON.stringify({ ...entry, parts: [] }) === JSON.stringify(now);
  if (same) now.parts = entry.parts;
  const file = await openUnfinished(unfinished, same, now);
  try {
    await file.truncate(object.sizeBytes);
    await journal.write(now);
    await fetchParts(context, download, file, now, journal);
    await file.datasync();
  } finally {
    await file.close();
  }
  await proveFile(context, download, unfinished, partSizeBytes).catch(async (error: unknown) => {
    // What is damaged is no good to go on with.
    if (error instanceof CommandFailure) await Promise.all([rm(unfinished, { force: true }), journal.remove()]);
    throw error;
  });
  await journal.remove();
  return unfinished;
}

/** What a journal promises is only true while its file is there. */
async function openUnfinished(path: string, resume: boolean, entry: DownloadEntry): Promise<FileHandle> {
  if (resume) {
    const found = await open(path, 'r+').catch(() => null);
    if (found !== null) return found;
  }
  entry.parts = [];
  await rm(path, { force: true });
  return await open(path, 'wx+');
}

async function fetchParts(
  context: TransferContext,
  download: ObjectDownload,
  file: FileHandle,
  entry: DownloadEntry,
  journal: Journal<DownloadEntry>,
): Promise<void> {
  const { limiter, parallel, progress, signal } = context;
  const arrived = new Set(entry.parts);
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  await forEachParallel(planParts(entry.sizeBytes, entry.partSizeBytes), parallel, async (part) => {
    if (arrived.has(part.partNumber)) {
      progress.body().add(part.endExclusive - part.start);
      return;
    }
    try {
      await limiter.run(() => withSecondTry(either, () => fetchPart(context, download, file, part, either)));
    } catch (error) {
      failed.abort(error);
      throw error;
    }
    entry.parts.push(part.partNumber);
    await journal.write(entry);
  });
}

async function fetchPart(
  { client, progress, customerKey }: TransferContext,
  { bucket, object }: ObjectDownload,
  file: FileHandle,
  part: PlannedPart,
  signal: AbortSignal,
): Promise<void> {
  const moved = progress.body();
  const headers = {
    range: `bytes=${part.start}-${part.endExclusive - 1}`,
    'if-match': `"${object.etag}"`,
    ...customerKeyHeaders(customerKey),
  };
  try {
    const query = versionQuery(object.versionId);
    const { body } = await client.send({ method: 'GET', bucket, key: object.key, query, headers, signal });
    let position = part.start;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      // a response without an encoding gives bytes
      if (position + chunk.length > part.endExclusive)
        throw new CommandFailure(`${object.key}: more bytes than asked for`);
      await file.write(chunk, 0, chunk.length, position);
      position += chunk.length;
      moved.add(chunk.length);
    }
    if (position !== part.endExclusive) throw new CommandFailure(`${object.key} ended too early`);
  } catch (error) {
    moved.restart();
    throw error;
  }
}

/** Reads the file once more: what is proved is what is on the disk, not what came over the wire. */
async function proveFile(
  { client, parallel, signal, customerKey }: TransferContext,
  { bucket, object }: ObjectDownload,
  path: string,
  partSizeBytes: number,
): Promise<void> {
  const { key, versionId } = object;
  const secret = customerKeyHeaders(customerKey);
  const { headers, etag } = await headObject(client, { bucket, key, versionId, headers: secret, signal });
  if (etag !== object.etag)
    throw new CommandFailure(`${object.key} was replaced while it was read`, { hint: 'run it again' });
  const proofs = proofsOf(headers);
  const crc = proofs.find((proof) => proof.kind === 'crc');
  const hash = proofs.find((proof) => proof.kind === 'hash');
  const file = await open(path);
  try {
    const plan = planParts(object.sizeBytes, partSizeBytes);
    if (crc !== undefined && (crc.name === 'crc32' || hash === undefined)) {
      const found = crcToBase64(crc.name, await crcOfParts(file, plan, crc.name, parallel));
      if (found !== crc.expected) throw damaged(object);
    } else if (hash !== undefined) {
      const hasher = createHash(hash.name);
      for await (const chunk of readRange(file, { start: 0, endExclusive: object.sizeBytes })) hasher.update(chunk);
      if (hasher.digest(hash.encoding) !== hash.expected) throw damaged(object);
    }
  } finally {
    await file.close();
  }
}

async function crcOfParts(
  file: FileHandle,
  plan: readonly PlannedPart[],
  name: CrcName,
  parallel: number,
): Promise<bigint> {
  const values = new Map<number, bigint>();
  await forEachParallel(plan, parallel, async (part) => {
    values.set(part.partNumber, await crcOfRange(file, part, name));
  });
  const joiner = new CrcJoiner(name);
  return plan.reduce(
    (whole, part) => joiner.join(whole, values.get(part.partNumber) ?? 0n, part.endExclusive - part.start),
    0n,
  );
}

function damaged({ key }: RemoteObject): CommandFailure {
  return new CommandFailure(`${key} arrived damaged: its checksum is another`);
}
