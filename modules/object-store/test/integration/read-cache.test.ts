import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  type GetObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startStore, testConfig, type RunningStore } from '../support/running-store.ts';
import { catchRefusal, sdkClient } from '../support/s3-client.ts';

const Bucket = 'bucket';
const Key = 'object';

describe('reads through an S3 engine', () => {
  let folder: TemporaryFolder;
  let engine: RunningStore;
  let engineKey: { access_key_id: string; secret_access_key: string };
  let store: RunningStore;
  let client: S3Client;

  /** A store whose engine is another store. */
  const open = async (settings: { read_cache_bytes?: number } = {}): Promise<void> => {
    const config = testConfig({ engine: 's3' });
    const s3 = { ...config.s3, ...engineKey, ...settings, endpoint: engine.endpoint, bucket: 'blobs', region: 'auto' };
    store = await startStore(join(folder.path, 'store'), { config: { ...config, s3 } });
    client = sdkClient(store, await store.createKey({ workspaceUuid: randomUUID() }));
    await client.send(new CreateBucketCommand({ Bucket }));
  };
  beforeEach(async () => {
    folder = await temporaryFolder();
    engine = await startStore(join(folder.path, 'engine'));
    const key = await engine.createKey({ workspaceUuid: randomUUID() });
    engineKey = { access_key_id: key.accessKeyId, secret_access_key: key.secretAccessKey };
    const upstream = sdkClient(engine, key);
    await upstream.send(new CreateBucketCommand({ Bucket: 'blobs' }));
    upstream.destroy();
  });
  afterEach(async () => {
    client.destroy();
    await store.close();
    await engine.close();
    await folder.remove();
  });

  const read = async (more: Partial<GetObjectCommandInput> = {}): Promise<Buffer> => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, ...more }));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  };
  const put = async (sizeBytes: number, more: object = {}): Promise<Buffer> => {
    const body = randomBytes(sizeBytes);
    await client.send(new PutObjectCommand({ Bucket, Key, Body: body, ...more }));
    return body;
  };
  /** The rows stay, so that only a cache can answer. */
  const loseBlobs = async (): Promise<void> => {
    for await (const { id } of store.blobs.list()) await store.blobs.remove(id);
  };

  it.each([
    ['encrypted', { ServerSideEncryption: 'AES256' }],
    ['unencrypted', {}],
  ])('need the engine twice, whole and in ranges: %s', async (_case, more) => {
    await open();
    const body = await put(300_000, more);
    for (let time = 0; time < 2; time += 1) expect((await read()).equals(body)).toBe(true);
    await loseBlobs();
    expect((await read()).equals(body)).toBe(true);
    expect((await read({ Range: 'bytes=70000-199999' })).equals(body.subarray(70_000, 200_000))).toBe(true);
    expect((await read({ Range: 'bytes=-1' })).equals(body.subarray(-1))).toBe(true);
  });

  it('return what was written last, and nothing after a deletion', async () => {
    await open();
    await put(300_000);
    for (let time = 0; time < 3; time += 1) await read();
    const replaced = await put(300_000);
    for (let time = 0; time < 3; time += 1) expect((await read()).equals(replaced)).toBe(true);
    await client.send(new DeleteObjectCommand({ Bucket, Key }));
    expect(await catchRefusal(read())).toEqual({ code: 'NoSuchKey', status: 404 });
  });

  it('leave no content in memory that a key of the customer protects', async () => {
    await open();
    const customerKey = randomBytes(32);
    const protection = {
      SSECustomerAlgorithm: 'AES256',
      SSECustomerKey: customerKey.toString('base64'),
      SSECustomerKeyMD5: createHash('md5').update(customerKey).digest('base64'),
    };
    const body = await put(300_000, protection);
    for (let time = 0; time < 3; time += 1) expect((await read(protection)).equals(body)).toBe(true);
    await loseBlobs();
    await expect(read(protection)).rejects.toThrow();
  });

  it.each([
    ['if the cache is off', { read_cache_bytes: 0 }, 300_000],
    ['for objects larger than 1 MiB', {}, 1_100_000],
  ])('always need the engine %s', async (_case, settings, sizeBytes) => {
    await open(settings);
    await put(sizeBytes);
    for (let time = 0; time < 3; time += 1) await read();
    await loseBlobs();
    await expect(read()).rejects.toThrow();
  });
});
