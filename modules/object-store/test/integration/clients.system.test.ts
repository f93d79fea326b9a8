import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeRequiring, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startStoreProcess, type StoreProcess } from '../support/store-process.ts';

const run = promisify(execFile);
const MiB = 1024 * 1024;

let folder: TemporaryFolder;
let store: StoreProcess;
beforeAll(async () => {
  folder = await temporaryFolder();
  store = await startStoreProcess(join(folder.path, 'store'));
});
afterAll(async () => {
  await store.stop();
  await folder.remove();
});

/** Isolates the client from the user's own settings and from services outside this machine. */
function environment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: folder.path,
    AWS_ACCESS_KEY_ID: store.accessKeyId,
    AWS_SECRET_ACCESS_KEY: store.secretAccessKey,
    AWS_DEFAULT_REGION: 'auto',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    S3_ENDPOINT: store.endpoint,
  };
}

describeRequiring(['command:aws'], 'the aws command', () => {
  const aws = async (...args: string[]): Promise<string> =>
    (await run('aws', ['--endpoint-url', store.endpoint, ...args], { env: environment(), maxBuffer: 64 * MiB })).stdout;

  it('creates a bucket, copies both ways, syncs, lists, presigns and deletes', async () => {
    await aws('s3', 'mb', 's3://cli-bucket');
    for (const size of [0, 1_024, 20 * MiB + 5]) {
      const sent = join(folder.path, `sent-${size}`);
      const received = join(folder.path, `received-${size}`);
      const bytes = randomBytes(size);
      await writeFile(sent, bytes);
      await aws('s3', 'cp', sent, `s3://cli-bucket/files/${size}`, '--no-progress');
      await aws('s3', 'cp', `s3://cli-bucket/files/${size}`, received, '--no-progress');
      expect((await readFile(received)).equals(bytes)).toBe(true);
    }
    const listing = await aws('s3', 'ls', 's3://cli-bucket/', '--recursive');
    expect(listing.trim().split('\n')).toHaveLength(3);
    const tree = join(folder.path, 'tree');
    await mkdir(join(tree, 'a b', 'ä+%'), { recursive: true });
    for (let index = 0; index < 20; index += 1) await writeFile(join(tree, 'a b', 'ä+%', `f${index}`), String(index));
    await aws('s3', 'sync', tree, 's3://cli-bucket/tree', '--no-progress');
    expect(await aws('s3', 'sync', tree, 's3://cli-bucket/tree', '--no-progress', '--dryrun')).toBe('');
    const url = (await aws('s3', 'presign', 's3://cli-bucket/files/1024')).trim();
    const answer = await fetch(url);
    expect((await answer.arrayBuffer()).byteLength).toBe(1_024);
    await aws('s3', 'rm', 's3://cli-bucket/', '--recursive');
    await aws('s3', 'rb', 's3://cli-bucket');
    await expect(aws('s3', 'ls', 's3://cli-bucket/')).rejects.toThrow(/NoSuchBucket/);
  });
});
