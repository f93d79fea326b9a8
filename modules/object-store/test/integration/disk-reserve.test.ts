import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { DiskReserve } from '@svc/runtime';
import { describeRequiring, temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { startStore } from '../support/running-store.ts';
import { catchRefusal, sdkClient } from '../support/s3-client.ts';

const MiB = 1024 * 1024;
const RESERVE_BYTES = 24 * MiB;
const FULL = { code: 'InsufficientStorage', status: 507 };

describeRequiring(['root', 'linux'], 'the reserve of a disk of 96 MiB (ext4)', () => {
  it('is closed to uploads, while deletes and settings still work and make room for writes', async () => {
    await using folder = await temporaryFolder();
    const [image, mount] = [join(folder.path, 'disk.img'), join(folder.path, 'disk')];
    await mkdir(mount);
    await writeFile(image, '');
    execFileSync('truncate', ['-s', '96M', image]);
    execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', image]);
    execFileSync('mount', ['-o', 'loop', image, mount]);
    const disk = new DiskReserve({ folder: mount, reserveBytes: RESERVE_BYTES });
    const store = await startStore(mount, { disk, config: { trash_grace_seconds: 0, sweep_grace_seconds: 0 } });
    const client = sdkClient(store, await store.createKey({ workspaceUuid: randomUUID() }));
    const freeBytes = async (): Promise<number> => {
      const { bavail, bsize } = await statfs(mount);
      return bavail * bsize;
    };
    try {
      const Bucket = 'reserve';
      await client.send(new CreateBucketCommand({ Bucket }));
      const put = (Key: string, sizeBytes: number) =>
        catchRefusal(client.send(new PutObjectCommand({ Bucket, Key, Body: randomBytes(sizeBytes) })));
      const stored: string[] = [];
      for (const sizeBytes of [8 * MiB, MiB, 100_000, 20_000]) {
        for (let count = 0; ; count += 1) {
          const { code } = await put(`${sizeBytes}/${count}`, sizeBytes);
          if (code !== 'none') {
            expect(code).toBe('InsufficientStorage');
            break;
          }
          stored.push(`${sizeBytes}/${count}`);
        }
      }
      expect(stored.length).toBeGreaterThan(5);
      // Rows and the write-ahead log of stored objects use the reserve.
      expect(await freeBytes()).toBeGreaterThan(RESERVE_BYTES / 2);

      expect(await put('empty', 0)).toEqual(FULL);
      const [first = ''] = stored;
      const copy = new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/${first}` });
      expect(await catchRefusal(client.send(copy))).toEqual(FULL);
      expect(await catchRefusal(client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'parts' })))).toEqual(FULL);

      // Everything else still works and commits.
      const found = await client.send(new GetObjectCommand({ Bucket, Key: first }));
      expect((await found.Body?.transformToByteArray())?.length).toBe(8 * MiB);
      const VersioningConfiguration = { Status: 'Enabled' } as const;
      await client.send(new CreateBucketCommand({ Bucket: 'another' }));
      await client.send(new PutBucketVersioningCommand({ Bucket: 'another', VersioningConfiguration }));
      expect(await store.module.readiness()).toBe('ok');

      for (const Key of stored) await client.send(new DeleteObjectCommand({ Bucket, Key }));
      await store.module.maintain();
      expect(await put('again', 8 * MiB)).toMatchObject({ code: 'none' });
      expect(await store.module.fsck()).toMatchObject({ clean: true });
    } finally {
      client.destroy();
      await store.close();
      execFileSync('umount', [mount]);
    }
  });
});
