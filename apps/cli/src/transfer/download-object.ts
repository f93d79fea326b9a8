import { randomBytes } from 'node:crypto';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CommandFailure } from '../client/command-failure.ts';
import { createCrc, CrcJoiner, crcToBase64, type Crc } from '../s3/crc.ts';
import { headObject, versionQuery, type RemoteObject } from '../s3/s3-operations.ts';
import { createVerifier, parseProofs, type ContentProof } from './content-proof.ts';
import { customerKeyHeaders } from './customer-key.ts';
import { crcOfRange, readRange } from './file-bytes.ts';
import { Journal, journalId } from './journal.ts';
import { forEachParallel, SMALL_BYTES } from './body-limiter.ts';
import { partSizeFor, planParts, type PlannedPart } from './part-plan.ts';
import { RangeWriter } from './range-writer.ts';
import { verified } from './read-object.ts';
import { writeSmallFile } from './small-files.ts';
import type { TransferContext } from './transfer-context.ts';

export interface ObjectDownload {
  bucket: string;
  object: RemoteObject;
  /** Replaced atomically once everything has arrived and is verified. */
  path: string;
}

interface DownloadEntry {
  etag: string;
  sizeBytes: number;
  partSizeBytes: number;
  /** Numbers of the parts in the unfinished file. */
  parts: number[];
}

export async function downloadObject(context: TransferContext, download: ObjectDownload): Promise<number> {
  const { object, path } = download;
  const partSizeBytes = partSizeFor(object.sizeBytes, context.partSizeBytes);
  if (object.sizeBytes <= SMALL_BYTES) await downloadSmall(context, download);
  else if (object.sizeBytes <= partSizeBytes) await rename(await downloadWhole(context, download), path);
  else await rename(await downloadInParts(context, download, partSizeBytes), path);
  return object.sizeBytes;
}

async function downloadSmall(context: TransferContext, download: ObjectDownload): Promise<void> {
  const { object, path } = download;
  const chunks: Uint8Array[] = [];
  await fetchWhole(context, download, async (content) => {
    chunks.length = 0;
    for await (const chunk of content) chunks.push(chunk);
  });
  writeSmallFile(path, createPartPath(path), Buffer.concat(chunks), new Date(object.modifiedAtMs));
}

async function downloadWhole(context: TransferContext, download: ObjectDownload): Promise<string> {
  const { object, path } = download;
  const unfinished = createPartPath(path);
  try {
    await fetchWhole(context, download, async (content) => {
      const file = await open(unfinished, 'w');
      const writer = new RangeWriter(file, 0);
      try {
        for await (const chunk of content) await writer.write(chunk);
        await writer.end();
        await keepTime(file, object);
      } finally {
        await writer.abandon();
        await file.close();
      }
    });
    return unfinished;
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** `take` restarts if the connection breaks; it rejects if the bytes fail verification. */
async function fetchWhole(
  { client, limiter, progress, signal, customerKey }: TransferContext,
  { bucket, object }: ObjectDownload,
  take: (content: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const attempt = async (): Promise<void> => {
    const moved = progress.body();
    try {
      const wanted = { 'x-amz-checksum-mode': 'ENABLED', 'if-match': `"${object.etag}"` };
      const headers = { ...wanted, ...customerKeyHeaders(customerKey) };
      const query = versionQuery(object.versionId);
      const { body } = await client.send({ method: 'GET', bucket, key: object.key, query, headers, signal });
      await take(verified(body, object.key, moved));
    } catch (error) {
      moved.restart();
      throw error;
    }
  };
  await limiter.run(object.sizeBytes, () => withSecondTry(signal, attempt));
}

function createPartPath(path: string): string {
  return join(dirname(path), `.svc-${randomBytes(8).toString('hex')}.part`);
}

/** Sets the modification time, so that a later sync sees no change. */
async function keepTime(file: FileHandle, { modifiedAtMs }: RemoteObject): Promise<void> {
  const modifiedAt = new Date(modifiedAtMs);
  await file.utimes(modifiedAt, modifiedAt);
}

/** Retries a connection lost in the middle of a body, but not a refusal. */
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
  const proof = await readProof(context, download);
  const entry = await journal.read();
  const same = entry !== null && JSON.stringify({ ...entry, parts: [] }) === JSON.stringify(now);
  if (same) now.parts = entry.parts;
  const file = await openUnfinished(unfinished, same, now);
  try {
    await file.truncate(object.sizeBytes);
    await journal.write(now);
    const crcs = await fetchParts(context, download, { file, entry: now, journal, proof });
    if (!(await isProved(file, proof, planParts(object.sizeBytes, partSizeBytes), crcs))) {
      // Corrupted data cannot be resumed.
      await Promise.all([rm(unfinished, { force: true }), journal.remove()]);
      throw new CommandFailure(`${object.key} was corrupted in transit: checksum mismatch`);
    }
    await keepTime(file, object);
  } finally {
    await file.close();
  }
  await journal.remove();
  return unfinished;
}

/** Opens the unfinished file; a journal is only valid while its file exists. */
async function openUnfinished(path: string, resume: boolean, entry: DownloadEntry): Promise<FileHandle> {
  if (resume) {
    const found = await open(path, 'r+').catch(() => null);
    if (found !== null) return found;
  }
  entry.parts = [];
  await rm(path, { force: true });
  return await open(path, 'wx+');
}

interface PartsOnTheirWay {
  file: FileHandle;
  entry: DownloadEntry;
  journal: Journal<DownloadEntry>;
  proof: ContentProof | null;
}

/** Returns the CRC of each part if a CRC proves the object. */
async function fetchParts(
  context: TransferContext,
  download: ObjectDownload,
  { file, entry, journal, proof }: PartsOnTheirWay,
): Promise<ReadonlyMap<number, bigint>> {
  const { limiter, parallel, progress, signal } = context;
  const name = proof?.kind === 'crc' ? proof.name : null;
  const arrived = new Set(entry.parts);
  const crcs = new Map<number, bigint>();
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  await forEachParallel(planParts(entry.sizeBytes, entry.partSizeBytes), parallel, async (part) => {
    const sizeBytes = part.endExclusive - part.start;
    if (arrived.has(part.partNumber)) {
      // Fetched by an earlier run: compute the CRC from disk.
      if (name !== null) crcs.set(part.partNumber, await crcOfRange(file, part, name));
      progress.body().add(sizeBytes);
      return;
    }
    try {
      const fetch = () => fetchPart(context, download, { file, part, crc: name && createCrc(name), signal: either });
      const crc = await limiter.run(sizeBytes, () => withSecondTry(either, fetch));
      if (crc !== null) crcs.set(part.partNumber, crc);
    } catch (error) {
      failed.abort(error);
      throw error;
    }
    entry.parts.push(part.partNumber);
    await journal.write(entry);
  });
  return crcs;
}

async function fetchPart(
  { client, progress, customerKey }: TransferContext,
  { bucket, object }: ObjectDownload,
  { file, part, crc, signal }: { file: FileHandle; part: PlannedPart; crc: Crc | null; signal: AbortSignal },
): Promise<bigint | null> {
  const moved = progress.body();
  const headers = {
    range: `bytes=${part.start}-${part.endExclusive - 1}`,
    'if-match': `"${object.etag}"`,
    ...customerKeyHeaders(customerKey),
  };
  const writer = new RangeWriter(file, part.start);
  try {
    const query = versionQuery(object.versionId);
    const { body } = await client.send({ method: 'GET', bucket, key: object.key, query, headers, signal });
    let position = part.start;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      // a response without an encoding yields bytes
      position += chunk.length;
      if (position > part.endExclusive) throw new CommandFailure(`${object.key}: received more bytes than requested`);
      crc?.update(chunk);
      await writer.write(chunk);
      moved.add(chunk.length);
    }
    if (position !== part.endExclusive) throw new CommandFailure(`${object.key} ended too early`);
    await writer.end();
    return crc?.value() ?? null;
  } catch (error) {
    moved.restart();
    throw error;
  } finally {
    await writer.abandon();
  }
}

/** Returns the cheapest proof of the whole; prefers one whose parts can be verified as they arrive. */
async function readProof(
  { client, signal, customerKey }: TransferContext,
  { bucket, object }: ObjectDownload,
): Promise<ContentProof | null> {
  const { key, versionId } = object;
  const secret = customerKeyHeaders(customerKey);
  const { headers, etag } = await headObject(client, { bucket, key, versionId, headers: secret, signal });
  if (etag !== object.etag)
    throw new CommandFailure(`${object.key} was replaced while it was read`, { hint: 'run it again' });
  const proofs = parseProofs(headers);
  return proofs.find((proof) => proof.kind === 'crc') ?? proofs[0] ?? null;
}

/** Part hashes can't be combined; reread the file for those. */
async function isProved(
  file: FileHandle,
  proof: ContentProof | null,
  plan: readonly PlannedPart[],
  crcs: ReadonlyMap<number, bigint>,
): Promise<boolean> {
  if (proof === null) return true;
  if (proof.kind === 'crc') {
    const joiner = new CrcJoiner(proof.name);
    const whole = plan.reduce(
      (before, part) => joiner.join(before, crcs.get(part.partNumber) ?? 0n, part.endExclusive - part.start),
      0n,
    );
    return crcToBase64(proof.name, whole) === proof.expected;
  }
  const verifier = createVerifier(proof);
  for await (const chunk of readRange(file, { start: 0, endExclusive: plan.at(-1)?.endExclusive ?? 0 }))
    verifier.update(chunk);
  return verifier.holds();
}
