import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { Attempt, WriteJournal } from './write-journal.ts';

export const CRASH_BUCKET = 'crash';
const PART_BYTES = 5 * 1024 * 1024;

/** Small pseudo-random numbers that a seed repeats (mulberry32). */
export function randomSource(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface LoadTally {
  answered: number;
  cut: number;
}

/** One client that writes its own few keys, one after the other, until the server is gone. */
export async function writeUntilCut(
  client: S3Client,
  journal: WriteJournal,
  name: string,
  random: () => number,
): Promise<LoadTally> {
  const tally: LoadTally = { answered: 0, cut: 0 };
  for (;;) {
    const key = `${name}/${Math.floor(random() * 6)}`;
    const choice = random();
    const attempt = journal.begin(key, choice < 0.12 ? 'delete' : 'put', sizeFor(choice, random()));
    try {
      await perform(client, journal, key, attempt);
    } catch {
      tally.cut += 1; // not answered: whether it happened is not known
      return tally;
    }
    journal.answered(key, attempt);
    tally.answered += 1;
  }
}

/** Inline objects most, then blobs, then objects in parts. */
function sizeFor(choice: number, fraction: number): number {
  if (choice < 0.75) return Math.floor(fraction * 60_000);
  if (choice < 0.97) return 70_000 + Math.floor(fraction * 2_000_000);
  return PART_BYTES + 1 + Math.floor(fraction * 1_000_000);
}

async function perform(client: S3Client, journal: WriteJournal, Key: string, attempt: Attempt): Promise<void> {
  const Bucket = CRASH_BUCKET;
  if (attempt.kind === 'delete') {
    await client.send(new DeleteObjectCommand({ Bucket, Key }));
    return;
  }
  const body = journal.bodyOf(attempt);
  if (body.length <= PART_BYTES) {
    await client.send(new PutObjectCommand({ Bucket, Key, Body: body }));
    return;
  }
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const Parts = [];
  for (const [index, Body] of [body.subarray(0, PART_BYTES), body.subarray(PART_BYTES)].entries()) {
    const part = { Bucket, Key, UploadId, PartNumber: index + 1 };
    const { ETag, ChecksumCRC32 } = await client.send(new UploadPartCommand({ ...part, Body }));
    Parts.push({ PartNumber: index + 1, ETag, ChecksumCRC32 });
  }
  await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
}

/** Reads everything back. Each line is a write that was answered and is not there, or bytes that nobody sent. */
export async function audit(client: S3Client, journal: WriteJournal): Promise<string[]> {
  const findings: string[] = [];
  const there = new Set<string>();
  for (const key of journal.keys()) {
    const found = await read(client, key);
    if (found !== null) there.add(key);
    const wrong = journal.judge(key, found);
    if (wrong !== null) findings.push(wrong);
  }
  const listed = await list(client);
  for (const key of listed) if (!there.has(key)) findings.push(`${key}: listed, but cannot be read`);
  for (const key of there) if (!listed.has(key)) findings.push(`${key}: can be read, but is not listed`);
  return findings;
}

async function read(client: S3Client, Key: string): Promise<Buffer | null> {
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: CRASH_BUCKET, Key }));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  } catch (error) {
    if (error instanceof NoSuchKey) return null;
    throw error;
  }
}

async function list(client: S3Client): Promise<Set<string>> {
  const keys = new Set<string>();
  for (let token: string | undefined; ;) {
    const page = await client.send(new ListObjectsV2Command({ Bucket: CRASH_BUCKET, ContinuationToken: token }));
    for (const object of page.Contents ?? []) if (object.Key !== undefined) keys.add(object.Key);
    token = page.NextContinuationToken;
    if (token === undefined) return keys;
  }
}
