import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { generateBytes } from './bodies.ts';
import { CRASH_BUCKET as Bucket } from './campaign-state.ts';
import { settle, type CrashClient } from './client.ts';

const KEYS_PER_CLIENT = 6;
export const CAMPAIGN_PART_BYTES = 100_000;

function anyKey({ name, random }: CrashClient): string {
  return `${name}/${Math.floor(random() * KEYS_PER_CLIENT)}`;
}

async function write(
  client: CrashClient,
  sizeBytes: number,
  send: (key: string, body: Buffer) => Promise<unknown>,
): Promise<boolean> {
  const { writes } = client.state;
  const key = anyKey(client);
  const attempt = { kind: 'put', body: writes.newBody(sizeBytes) } as const;
  writes.begin(key, attempt);
  return await settle(send(key, generateBytes(writes.seed, attempt.body)), {
    answered: () => writes.answered(key, attempt),
    refused: () => writes.refused(key, attempt),
  });
}

export function putSmall(client: CrashClient): Promise<boolean> {
  return write(client, Math.floor(client.random() * 60_000), (Key, Body) =>
    client.s3.send(new PutObjectCommand({ Bucket, Key, Body })),
  );
}

export function putBlob(client: CrashClient): Promise<boolean> {
  return write(client, 70_000 + Math.floor(client.random() * 700_000), (Key, Body) =>
    client.s3.send(new PutObjectCommand({ Bucket, Key, Body })),
  );
}

export function putInParts(client: CrashClient): Promise<boolean> {
  const sizeBytes = CAMPAIGN_PART_BYTES + 1 + Math.floor(client.random() * 2 * CAMPAIGN_PART_BYTES);
  return write(client, sizeBytes, async (Key, body) => {
    const { s3 } = client;
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const Parts: { PartNumber: number; ETag: string | undefined; ChecksumCRC32: string | undefined }[] = [];
    for (let start = 0; start < body.length; start += CAMPAIGN_PART_BYTES) {
      const PartNumber: number = Parts.length + 1;
      const Body = body.subarray(start, start + CAMPAIGN_PART_BYTES);
      const { ETag, ChecksumCRC32 } = await s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
      Parts.push({ PartNumber, ETag, ChecksumCRC32 });
    }
    await s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
  });
}

/** Copies from a key that certainly exists: no bytes travel, and both keys may share a blob. */
export async function copy(client: CrashClient): Promise<boolean> {
  const { writes } = client.state;
  const source = anyKey(client);
  const key = anyKey(client);
  const body = writes.known(source);
  if (body === null || source === key) return false;
  const attempt = { kind: 'put', body } as const;
  writes.begin(key, attempt);
  return await settle(client.s3.send(new CopyObjectCommand({ Bucket, Key: key, CopySource: `${Bucket}/${source}` })), {
    answered: () => writes.answered(key, attempt),
    refused: () => writes.refused(key, attempt),
  });
}

export async function remove(client: CrashClient): Promise<boolean> {
  const { writes } = client.state;
  const key = anyKey(client);
  const attempt = writes.begin(key, { kind: 'delete' });
  return await settle(client.s3.send(new DeleteObjectCommand({ Bucket, Key: key })), {
    answered: () => writes.answered(key, attempt),
    refused: () => writes.refused(key, attempt),
  });
}

export async function removeMany(client: CrashClient): Promise<boolean> {
  const { writes } = client.state;
  const keys = [...new Set([anyKey(client), anyKey(client)])];
  const attempts = keys.map((key) => [key, writes.begin(key, { kind: 'delete' })] as const);
  const Objects = keys.map((Key) => ({ Key }));
  return await settle(client.s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } })), {
    answered: () => attempts.forEach(([key, attempt]) => writes.answered(key, attempt)),
    refused: () => attempts.forEach(([key, attempt]) => writes.refused(key, attempt)),
  });
}

/** A client must be able to read its own writes immediately. */
export async function readBack(client: CrashClient): Promise<boolean> {
  const { writes, findings } = client.state;
  const key = anyKey(client);
  const body = writes.known(key);
  if (body === null) return false;
  const { Body } = await client.s3.send(new GetObjectCommand({ Bucket, Key: key }));
  const found = Buffer.from((await Body?.transformToByteArray()) ?? []);
  if (!found.equals(generateBytes(writes.seed, body))) findings.push(`${key}: other bytes while the server ran`);
  return true;
}

/** A client must see its own writes in a listing. */
export async function listOwn(client: CrashClient): Promise<boolean> {
  const { writes, findings } = client.state;
  const { Contents = [] } = await client.s3.send(new ListObjectsV2Command({ Bucket, Prefix: `${client.name}/` }));
  const listed = new Set(Contents.map(({ Key }) => Key));
  for (let index = 0; index < KEYS_PER_CLIENT; index += 1) {
    const key = `${client.name}/${index}`;
    if (writes.known(key) !== null && !listed.has(key)) findings.push(`${key}: not listed while the server ran`);
  }
  return true;
}
