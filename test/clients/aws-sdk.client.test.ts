import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  paginateListObjectsV2,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  waitUntilObjectExists,
  type ChecksumAlgorithm,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClientStore, type ClientStore } from './client-store.ts';
import { digestOfBytes } from './tree.ts';

const MiB = 1024 * 1024;

describe('the AWS SDK for JavaScript', () => {
  let store: ClientStore;
  let client: S3Client;
  let Bucket: string;
  beforeAll(async () => {
    store = await startClientStore();
    Bucket = await store.makeBucket();
    const { endpoint, region, accessKeyId, secretAccessKey } = store;
    client = new S3Client({ endpoint, region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } });
  });
  afterAll(async () => {
    client.destroy();
    await store.stop();
  });

  const read = async (Key: string, more: { Range?: string } = {}): Promise<Uint8Array> => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, ...more }));
    return (await Body?.transformToByteArray()) ?? new Uint8Array();
  };

  it('uploads a stream of unknown length in concurrent parts, with each kind of checksum', async () => {
    const bytes = randomBytes(21 * MiB + 5);
    const algorithms: ChecksumAlgorithm[] = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'];
    for (const ChecksumAlgorithm of algorithms) {
      const Body = Readable.from(chunksOf(bytes, 300_000));
      const params = { Bucket, Key: `streams/${ChecksumAlgorithm}`, Body, ChecksumAlgorithm };
      await new Upload({ client, params, queueSize: 4, partSize: 5 * MiB }).done();
      expect(digestOfBytes(await read(params.Key))).toBe(digestOfBytes(bytes));
    }
    expect(digestOfBytes(await read('streams/CRC32', { Range: 'bytes=5242870-5242890' }))).toBe(
      digestOfBytes(bytes.subarray(5_242_870, 5_242_891)),
    );
  });

  it('leaves nothing behind when an upload is aborted', async () => {
    const Body = Readable.from(endless());
    const upload = new Upload({ client, params: { Bucket, Key: 'given-up', Body }, partSize: 5 * MiB });
    upload.on('httpUploadProgress', () => void upload.abort());
    await expect(upload.done()).rejects.toThrow(/abort/i);
    await expect(client.send(new HeadObjectCommand({ Bucket, Key: 'given-up' }))).rejects.toMatchObject({
      name: 'NotFound',
    });
  });

  it('lists pages, waits for an object, copies it and deletes many', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `many/${String(index).padStart(2, '0')} ü`);
    for (const Key of names) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    await waitUntilObjectExists({ client, maxWaitTime: 10 }, { Bucket, Key: names[24] });
    const found: (string | undefined)[] = [];
    for await (const page of paginateListObjectsV2({ client, pageSize: 10 }, { Bucket, Prefix: 'many/' })) {
      found.push(...(page.Contents ?? []).map(({ Key }) => Key));
    }
    expect(found).toEqual(names);
    const CopySource = encodeURI(`${Bucket}/${names[3]}`);
    await client.send(new CopyObjectCommand({ Bucket, Key: 'copied', CopySource }));
    expect(Buffer.from(await read('copied')).toString()).toBe(names[3]);
    const { Deleted } = await client.send(
      new DeleteObjectsCommand({ Bucket, Delete: { Objects: names.map((Key) => ({ Key })) } }),
    );
    expect(Deleted?.map(({ Key }) => Key).toSorted()).toEqual(names);
  });

  it('presigns URLs for reading and writing that restrict what may be sent', async () => {
    const put = new PutObjectCommand({ Bucket, Key: 'link', ContentType: 'text/plain' });
    const url = await getSignedUrl(client, put, { expiresIn: 60, signableHeaders: new Set(['content-type']) });
    const wrong = await fetch(url, { method: 'PUT', headers: { 'content-type': 'text/html' }, body: 'no' });
    expect(wrong.status).toBe(403);
    const right = await fetch(url, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'by link' });
    expect(right.status).toBe(200);
    const link = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'link' }), { expiresIn: 60 });
    const answer = await fetch(link);
    expect([answer.headers.get('content-type'), await answer.text()]).toEqual(['text/plain; charset=utf-8', 'by link']);
  });

  it('throws errors that a program can distinguish', async () => {
    const missing = client.send(new GetObjectCommand({ Bucket, Key: 'missing' }));
    await expect(missing).rejects.toMatchObject({ name: 'NoSuchKey', Key: 'missing' });
    const elsewhere = client.send(new GetObjectCommand({ Bucket: 'no-such-bucket-here', Key: 'x' }));
    await expect(elsewhere).rejects.toSatisfy((error: unknown) => {
      return (
        error instanceof S3ServiceException && error.name === 'NoSuchBucket' && error.$metadata.httpStatusCode === 404
      );
    });
  });
});

function* chunksOf(bytes: Uint8Array, sizeBytes: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += sizeBytes) yield bytes.subarray(at, at + sizeBytes);
}

function* endless(): Generator<Uint8Array> {
  for (;;) yield randomBytes(MiB);
}
