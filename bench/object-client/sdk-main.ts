/**
 * `node bench/object-client/sdk-main.ts copy|sync FROM TO`: the work of `svc object cp` and `sync` through
 * `@aws-sdk/client-s3`, with the same part size, concurrency, checksums and atomic files. A place is `s3://bucket/key`.
 */
import { mkdir, open, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  type CompletedPart,
} from '@aws-sdk/client-s3';

const PART_BYTES = 16 * 1024 * 1024;
const LARGE_AT_ONCE = 4;
const SMALL_AT_ONCE = 16;
const [task = '', from = '', to = ''] = process.argv.slice(2);

const client = new S3Client({ forcePathStyle: true });
if (task === 'copy') await (isRemote(from) ? download(parsePlace(from), to) : upload(from, parsePlace(to)));
else await (isRemote(from) ? syncDown(parsePlace(from), to) : syncUp(from, parsePlace(to)));
client.destroy();

interface Place {
  Bucket: string;
  Key: string;
}

function isRemote(text: string): boolean {
  return text.startsWith('s3://');
}

function parsePlace(text: string): Place {
  const [bucket = '', ...key] = text.slice('s3://'.length).split('/');
  return { Bucket: bucket, Key: key.join('/') };
}

async function upload(path: string, place: Place): Promise<void> {
  const { size } = await stat(path);
  if (size > PART_BYTES) return uploadInParts(path, place, size);
  const body = await readFile(path);
  await client.send(new PutObjectCommand({ ...place, Body: body, ChecksumCRC32: checksumOf(body) }));
}

async function uploadInParts(path: string, place: Place, sizeBytes: number): Promise<void> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...place, ChecksumAlgorithm: 'CRC32' }));
  const parts: CompletedPart[] = [];
  await using file = await open(path);
  const buffers: Buffer[] = [];
  await forEach(numbersUpTo(Math.ceil(sizeBytes / PART_BYTES)), LARGE_AT_ONCE, async (index) => {
    const buffer = buffers.pop() ?? Buffer.allocUnsafeSlow(PART_BYTES);
    const { bytesRead } = await file.read(buffer, 0, PART_BYTES, index * PART_BYTES);
    const body = buffer.subarray(0, bytesRead);
    const ChecksumCRC32 = checksumOf(body);
    const sent = { ...place, UploadId, PartNumber: index + 1 };
    const { ETag } = await client.send(new UploadPartCommand({ ...sent, Body: body, ChecksumCRC32 }));
    buffers.push(buffer);
    parts[index] = { ETag, PartNumber: index + 1, ChecksumCRC32 };
  });
  await client.send(new CompleteMultipartUploadCommand({ ...place, UploadId, MultipartUpload: { Parts: parts } }));
}

async function download(place: Place, path: string): Promise<void> {
  const { ContentLength: sizeBytes = 0 } = await client.send(new HeadObjectCommand(place));
  const unfinished = `${path}.part`;
  {
    await using file = await open(unfinished, 'w');
    await forEach(numbersUpTo(Math.ceil(sizeBytes / PART_BYTES)), LARGE_AT_ONCE, async (index) => {
      const start = index * PART_BYTES;
      const range = `bytes=${start}-${Math.min(sizeBytes, start + PART_BYTES) - 1}`;
      const { Body } = await client.send(new GetObjectCommand({ ...place, Range: range }));
      if (Body === undefined) throw new Error(`no body for ${range}`);
      let position = start;
      for await (const chunk of Body as AsyncIterable<Buffer>) {
        await file.write(chunk, 0, chunk.length, position);
        position += chunk.length;
      }
    });
  }
  await rename(unfinished, path);
}

async function syncUp(folder: string, place: Place): Promise<void> {
  const remote = await listRemote(place);
  await forEach(await listLocal(folder), SMALL_AT_ONCE, async (name) => {
    const { size, mtimeMs } = await stat(join(folder, name));
    const known = remote.get(name);
    if (known?.sizeBytes === size && known.modifiedAtMs >= mtimeMs) return;
    await upload(join(folder, name), { ...place, Key: `${place.Key}/${name}` });
  });
}

async function syncDown(place: Place, folder: string): Promise<void> {
  const remote = [...(await listRemote(place))];
  for (const parent of new Set(remote.map(([name]) => dirname(name))))
    await mkdir(join(folder, parent), { recursive: true });
  await forEach(remote, SMALL_AT_ONCE, async ([name, { modifiedAtMs }]) => {
    const { Body } = await client.send(new GetObjectCommand({ ...place, Key: `${place.Key}/${name}` }));
    if (Body === undefined) throw new Error(`no body for ${name}`);
    const path = join(folder, name);
    await writeFile(`${path}.part`, await Body.transformToByteArray());
    await utimes(`${path}.part`, modifiedAtMs / 1_000, modifiedAtMs / 1_000);
    await rename(`${path}.part`, path);
  });
}

interface RemoteEntry {
  sizeBytes: number;
  modifiedAtMs: number;
}

async function listRemote({ Bucket, Key }: Place): Promise<Map<string, RemoteEntry>> {
  const entries = new Map<string, RemoteEntry>();
  let token: string | undefined;
  do {
    const page = await client.send(new ListObjectsV2Command({ Bucket, Prefix: `${Key}/`, ContinuationToken: token }));
    for (const { Key: key = '', Size = 0, LastModified } of page.Contents ?? []) {
      entries.set(key.slice(Key.length + 1), { sizeBytes: Size, modifiedAtMs: LastModified?.getTime() ?? 0 });
    }
    token = page.NextContinuationToken;
  } while (token !== undefined);
  return entries;
}

async function listLocal(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

function checksumOf(bytes: Buffer): string {
  const digest = Buffer.alloc(4);
  digest.writeUInt32BE(crc32(bytes));
  return digest.toString('base64');
}

function numbersUpTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

async function forEach<Item>(items: readonly Item[], limit: number, run: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values();
  const work = async (): Promise<void> => {
    for (const item of rest) await run(item);
  };
  await Promise.all(Array.from({ length: limit }, work));
}
