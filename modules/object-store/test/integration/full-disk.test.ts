import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { describeRequiring, temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { startStore } from '../support/running-store.ts';
import { catchRefusal, sdkClient } from '../support/s3-client.ts';

const SMALL_BYTES = 30_000;

describeRequiring(['root', 'linux'], 'a store whose disk is full', () => {
  it('answers InsufficientStorage, shows no rejected write, serves the rest, and recovers', async () => {
    await using folder = await temporaryFolder();
    const mount = join(folder.path, 'disk');
    await mkdir(mount);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', mount]);
    const store = await startStore(mount, { config: { trash_grace_seconds: 0, sweep_grace_seconds: 0 } });
    const client = sdkClient(store, await store.createKey({ workspaceUuid: randomUUID() }));
    try {
      const Bucket = 'full';
      await client.send(new CreateBucketCommand({ Bucket }));
      const put = (Key: string, Body: Buffer) => catchRefusal(client.send(new PutObjectCommand({ Bucket, Key, Body })));
      expect(await put('large', randomBytes(30_000_000))).toEqual({ code: 'InsufficientStorage', status: 507 });
      const answered: string[] = [];
      for (let index = 0; index < 2_000; index += 1) {
        const { code } = await put(`small-${index}`, randomBytes(SMALL_BYTES));
        if (code !== 'none') {
          expect(code).toBe('InsufficientStorage');
          break;
        }
        answered.push(`small-${index}`);
      }
      expect(answered.length).toBeGreaterThan(10);
      const listed = await client.send(new ListObjectsV2Command({ Bucket }));
      expect(listed.Contents?.map(({ Key }) => Key)).toEqual(answered.toSorted());
      const first = await client.send(new GetObjectCommand({ Bucket, Key: 'small-0' }));
      expect((await first.Body?.transformToByteArray())?.length).toBe(SMALL_BYTES);
      expect(await store.module.fsck()).toMatchObject({ clean: true });

      execFileSync('mount', ['-o', 'remount,size=64m', mount]);
      for (const Key of answered) await client.send(new DeleteObjectCommand({ Bucket, Key }));
      expect(await put('again', randomBytes(SMALL_BYTES))).toMatchObject({ code: 'none' });
    } finally {
      client.destroy();
      await store.close();
      execFileSync('umount', [mount]);
    }
  });
});
