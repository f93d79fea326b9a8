import { randomBytes } from 'node:crypto';
import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../src/adapters/engines/embedded/file-system.ts';
import { startClientStore, type ClientStore } from '../support/client-store.ts';
import { faultyFileSystem, type FaultPlan } from '../support/faults/faulty-file-system.ts';
import { catchRefusal } from '../support/s3-client.ts';

const Bucket = 'faults';
const healthy: FaultPlan = () => null;

describe('a store whose disk reports errors', () => {
  let store: ClientStore;
  let client: S3Client;
  let plan: FaultPlan;
  beforeEach(async () => {
    plan = healthy;
    store = await startClientStore({
      bucket: Bucket,
      config: { trash_grace_seconds: 0, sweep_grace_seconds: 0 },
      fileSystem: faultyFileSystem(nodeFileSystem(), (call, path) => plan(call, path)),
    });
    ({ client } = store);
  });
  afterEach(async () => {
    await store.close();
  });
  const put = (Key: string, Body: Buffer) => catchRefusal(client.send(new PutObjectCommand({ Bucket, Key, Body })));
  const read = async (Key: string): Promise<Buffer> => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  };

  it.each(['open', 'writev', 'datasync', 'rename', 'sync'] as const)(
    'rejects a write whose %s fails, keeps the old object, and accepts the write once the disk recovers',
    async (failing) => {
      const before = randomBytes(300_000);
      await put('kept', before);
      plan = (call) => (call === failing ? 'EIO' : null);
      expect(await put('kept', randomBytes(400_000))).toEqual({ code: 'StorageFault', status: 500 });
      expect(await put('new', randomBytes(400_000))).toEqual({ code: 'StorageFault', status: 500 });
      plan = healthy;
      expect((await read('kept')).equals(before)).toBe(true);
      expect(await catchRefusal(read('new'))).toEqual({ code: 'NoSuchKey', status: 404 });
      expect(await store.module.fsck()).toMatchObject({ clean: true, blobsFound: 1, unknown: [] });
      const after = randomBytes(400_000);
      expect(await put('kept', after)).toMatchObject({ code: 'none' });
      expect((await read('kept')).equals(after)).toBe(true);
    },
  );

  it('rejects a read that fails at once, cuts off one that fails later, and serves inline objects', async () => {
    const large = randomBytes(3_000_000);
    await put('large', large);
    await put('small', Buffer.from('in the row'));
    plan = (call) => (call === 'read' ? 'EIO' : null);
    expect(await catchRefusal(read('large'))).toEqual({ code: 'StorageFault', status: 500 });
    expect((await read('small')).toString()).toBe('in the row');
    let reads = 0;
    plan = (call) => (call === 'read' && (reads += 1) > 3 ? 'EIO' : null);
    await expect(read('large')).rejects.toThrow(); // never a shorter object that looks whole
    plan = healthy;
    expect((await read('large')).equals(large)).toBe(true);
  });
});
