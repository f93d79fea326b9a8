import { DatabaseSync } from 'node:sqlite';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { apiClient } from './api-client.ts';
import { runSvc, startPlatform, type RunningPlatform } from './running-platform.ts';

const Bucket = 'sealed';
const environment = { SVC_SERVICES: 'object-store' };
const OBJECTS = 400;

interface AccessKey {
  accessKeyId: string;
  secretAccessKey: string;
}

describe('the keys of a running platform', () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  const start = () => startPlatform({ dataFolder: folder.path, environment });
  const admin = (...flags: string[]) => runSvc(['admin', ...flags, '--data', folder.path], environment);
  const keys = async () =>
    JSON.parse((await admin('keys', '--json')).stdout) as { id: number; objects: number; secrets: number }[]; // the report
  const clientOf = ({ ready }: RunningPlatform, credentials: AccessKey): S3Client =>
    new S3Client({ endpoint: ready.s3_endpoint, region: 'auto', forcePathStyle: true, credentials });
  const put = (s3: S3Client, Key: string) => s3.send(new PutObjectCommand({ Bucket, Key, Body: `body of ${Key}` }));
  const get = async (s3: S3Client, Key: string) =>
    await (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString();
  const putAll = async (s3: S3Client, prefix: string, count: number): Promise<void> => {
    for (let from = 0; from < count; from += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, index) => put(s3, `${prefix}-${from + index}`)));
    }
  };

  it('rotate under load with repeated kills, without losing an answered write', async () => {
    let platform = await start();
    const credentials = await makeKey(platform);
    await putAll(clientOf(platform, credentials), 'kept', OBJECTS);
    const answered: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      expect(await admin('rotate-keys', '--no-wait')).toMatchObject({ exitCode: 0 });
      const s3 = clientOf(platform, credentials);
      const writing = (async () => {
        for (let index = 0; index < 1_000; index += 1) {
          await put(s3, `r${round}-${index}`);
          answered.push(`r${round}-${index}`);
        }
      })().catch(() => undefined); // the platform is killed during it
      await expect
        .poll(() => answered.filter((key) => key.startsWith(`r${round}-`)).length)
        .toBeGreaterThan(round * 40);
      await platform.kill();
      await writing;
      platform = await start();
    }
    const s3 = clientOf(platform, credentials);
    await expect.poll(async () => (await keys()).map(({ id }) => id), { timeout: 120_000 }).toEqual([5]);
    for (let index = 0; index < OBJECTS; index += 1)
      expect(await get(s3, `kept-${index}`)).toBe(`body of kept-${index}`);
    for (const key of answered) expect(await get(s3, key)).toBe(`body of ${key}`);
    const [newest] = await keys();
    expect(newest?.objects).toBeGreaterThanOrEqual(OBJECTS + answered.length);
    expect((await admin('verify-audit')).stdout).toContain('is what the platform wrote');
    await platform.stop();
  });

  it('rotate with a stopped and with a running platform, including the master key', async () => {
    const master = join(folder.path, 'keys', 'master.key');
    const platform = await start();
    const credentials = await makeKey(platform);
    const s3 = clientOf(platform, credentials);
    await putAll(s3, 'kept', 20);
    const first = await readFile(master, 'utf8');
    const beside = await admin('rotate-keys', '--master');
    expect(beside).toMatchObject({ exitCode: 0 });
    expect(await readFile(master, 'utf8')).not.toBe(first);
    expect((await stat(master)).mode & 0o777).toBe(0o600);
    expect(await get(s3, 'kept-7')).toBe('body of kept-7');
    await put(s3, 'after');
    await platform.stop();

    expect(await admin('rotate-keys', '--master')).toMatchObject({ exitCode: 0 });
    expect((await keys()).map(({ id, objects }) => [id, objects])).toEqual([[3, 21]]);
    await using again = await start();
    expect(await get(clientOf(again, credentials), 'after')).toBe('body of after');
    expect((await admin('verify-audit')).exitCode).toBe(0);
    expect(`${beside.stdout}${beside.stderr}`).not.toContain(first.trim());
  });

  it('refuse to start with another master key, in one line', async () => {
    const platform = await start();
    await put(clientOf(platform, await makeKey(platform)), 'kept');
    await platform.stop();
    const other = { ...environment, SVC_MASTER_KEY: 'ab'.repeat(32) };
    await expect(startPlatform({ dataFolder: folder.path, environment: other })).rejects.toThrow(
      'is not the one of this database',
    );
  });

  it('prove the audit log, and name the row that was changed outside the platform', async () => {
    const platform = await start();
    await makeKey(platform);
    const before = await admin('verify-audit');
    expect(before).toMatchObject({ exitCode: 0 });
    const head = /head (\d+:[0-9a-f]{64})/.exec(before.stdout)?.[1] ?? '';
    expect(await admin('verify-audit', '--since', head)).toMatchObject({ exitCode: 0 });
    const database = new DatabaseSync(join(folder.path, 'svc.db'));
    database.exec(`update account_audit set outcome = 'refused' where action = 'key:create'`);
    database.close();
    const after = await admin('verify-audit');
    expect(after).toMatchObject({ exitCode: 1 });
    expect(after.stdout).toMatch(/BROKEN at row \d+: the row was changed/);
    await platform.stop();
  });
});

async function makeKey({ ready }: RunningPlatform): Promise<AccessKey> {
  const base = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
  const api = apiClient(ready);
  await api.post(`${base}/buckets`, { name: Bucket });
  return (await api.post<{ data: AccessKey }>(`${base}/keys`, {})).data;
}
