import { randomBytes } from 'node:crypto';
import { readdir, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { apiClient } from './api-client.ts';
import { runSvc, startPlatform, type RunningPlatform } from './running-platform.ts';

const Bucket = 'kept';
const environment = { SVC_OBJECT_STORE_TRASH_GRACE_SECONDS: '0', SVC_SERVICES: 'object-store' };

interface AccessKey {
  accessKeyId: string;
  secretAccessKey: string;
}

describe('svc object-store', () => {
  let folder: TemporaryFolder;
  let backups: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
    backups = join(folder.path, 'backups');
  });
  afterEach(() => folder.remove());

  const start = (name: string) => startPlatform({ dataFolder: join(folder.path, name), environment });
  /** Runs a command on a data folder and returns its report. */
  const run = async (name: string, command: string, ...flags: string[]) => {
    const data = ['--data', join(folder.path, name), '--json'];
    const { exitCode, stdout, stderr } = await runSvc(['object-store', command, ...data, ...flags], environment);
    // each test states its expectations
    const report = stdout === '' ? {} : (JSON.parse(stdout) as Record<string, unknown>);
    return { exitCode, report, stderr };
  };
  const backUp = (keep = '7') => run('data', 'backup', '--to', backups, '--keep', keep);
  /** Creates the bucket and a key like a user. */
  const makeKey = async ({ ready }: RunningPlatform): Promise<AccessKey> => {
    const base = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
    const api = apiClient(ready);
    await api.post(`${base}/buckets`, { name: Bucket });
    return (await api.post<{ data: AccessKey }>(`${base}/keys`, {})).data;
  };
  const clientOf = ({ ready }: RunningPlatform, credentials: AccessKey): S3Client =>
    new S3Client({ endpoint: ready.s3_endpoint, region: 'auto', forcePathStyle: true, credentials });
  const put = (s3: S3Client, Key: string, Body: Buffer) => s3.send(new PutObjectCommand({ Bucket, Key, Body }));
  const get = async (s3: S3Client, Key: string): Promise<Buffer> =>
    Buffer.from((await (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToByteArray()) ?? []);

  it('restores every byte, key and account from a platform that is written to during the backup', async () => {
    const sizes = { inline: 1_000, blob: 300_000, large: 9_000_000 };
    const bodies = new Map(Object.entries(sizes).map(([key, size]) => [key, randomBytes(size)]));
    await using platform = await start('data');
    const key = await makeKey(platform);
    const s3 = clientOf(platform, key);
    for (const [name, body] of bodies) await put(s3, name, body);
    const stop = new AbortController();
    const writing = (async () => {
      for (let index = 0; !stop.signal.aborted; index += 1) {
        await put(s3, `during-${index % 5}`, randomBytes(100_000));
        if (index % 3 === 0) await s3.send(new DeleteObjectCommand({ Bucket, Key: `during-${index % 5}` }));
      }
    })();
    expect(await backUp()).toMatchObject({ exitCode: 0, report: { bad: [] } });
    expect((await run('data', 'fsck')).report).toMatchObject({ missing: [], wrongSize: [], usageDrift: [] });
    stop.abort();
    await writing;
    s3.destroy();
    await platform.stop();

    expect(await run('restored', 'restore', '--from', backups)).toMatchObject({
      exitCode: 0,
      report: { bad: [], fsck: { clean: true } },
    });
    expect(await run('restored', 'scrub')).toMatchObject({ exitCode: 0, report: { findings: [], unreadable: 0 } });
    const again = await run('restored', 'restore', '--from', backups);
    expect(again.exitCode).toBe(1);
    expect(again.stderr).toContain('is not empty');
    await using second = await start('restored');
    expect(second.ready.workspace_uuid).toBe(platform.ready.workspace_uuid);
    const reader = clientOf(second, key);
    for (const [name, body] of bodies) expect((await get(reader, name)).equals(body)).toBe(true);
    await put(reader, 'after', randomBytes(200_000));
    reader.destroy();
  });

  it('copies only new blobs, keeps the given number of snapshots, and deletes unreferenced blobs', async () => {
    await using platform = await start('data');
    const s3 = clientOf(platform, await makeKey(platform));
    await put(s3, 'first', randomBytes(100_000));
    await put(s3, 'second', randomBytes(100_000));
    expect((await backUp('2')).report).toMatchObject({ blobs: 2, copied: 2, removedSnapshots: 0 });
    await s3.send(new DeleteObjectCommand({ Bucket, Key: 'first' }));
    await put(s3, 'third', randomBytes(100_000));
    expect((await backUp('2')).report).toMatchObject({ blobs: 2, copied: 1, removedSnapshots: 0 });
    expect((await backUp('2')).report).toMatchObject({ copied: 0, removedSnapshots: 1, removedBlobs: 1 });
    expect(await readdir(join(backups, 'snapshots'))).toHaveLength(2);
    s3.destroy();
  });

  it('names blobs lost at the source, and rejects an incomplete backup', async () => {
    await using platform = await start('data');
    const s3 = clientOf(platform, await makeKey(platform));
    await put(s3, 'lost', randomBytes(100_000));
    s3.destroy();
    await platform.stop();
    const blobs = join(folder.path, 'data', 'objects', 'blobs', 'blobs');
    for (const entry of await readdir(blobs, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) await unlink(join(entry.parentPath, entry.name));
    }
    expect(await run('data', 'fsck')).toMatchObject({ exitCode: 1, report: { clean: false } });
    const { exitCode, report } = await backUp();
    expect({ exitCode, bad: report['bad'] }).toEqual({ exitCode: 1, bad: [expect.any(String)] });
    for (const name of await readdir(join(backups, 'snapshots'))) {
      await rm(join(backups, 'snapshots', name, 'manifest.json'));
    }
    const refused = await run('other', 'restore', '--from', backups);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('no complete backup');
  });
});
