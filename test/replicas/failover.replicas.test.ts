import { join } from 'node:path';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import {
  describeRequiring,
  findPostgresPrograms,
  startPostgres,
  temporaryFolder,
  waitFor,
  type PostgresServer,
} from '@svc/testing';
import { expect, it } from 'vitest';
import { apiClient } from '../system/api-client.ts';
import { startPlatform, type RunningPlatform } from '../system/running-platform.ts';

const WRITERS = 8;
const PUTS_BETWEEN_FAULTS = 300;
const Bucket = 'failover';

/** A primary that acknowledges a commit only when its streaming standby has it on disk. */
async function startPair(logFolder: string): Promise<{ primary: PostgresServer; standby: PostgresServer }> {
  const programs = findPostgresPrograms();
  if (programs === null) throw new Error('PostgreSQL is not installed');
  const { signal } = new AbortController();
  const environment = { PATH: process.env['PATH'] ?? '' };
  const shared = { environment, isRoot: process.getuid?.() === 0, signal, durable: true };
  const settings = { synchronous_standby_names: '*', synchronous_commit: 'on' };
  const primary = await startPostgres(programs, { ...shared, settings, logFile: join(logFolder, 'primary.log') });
  try {
    const logFile = join(logFolder, 'standby.log');
    return { primary, standby: await startPostgres(programs, { ...shared, logFile, standbyOf: primary.url }) };
  } catch (error) {
    await primary.stop();
    throw error;
  }
}

/** One URL for both, the standby first: it must be passed over until it is the primary. */
function urlOf(standby: PostgresServer, primary: PostgresServer): string {
  const [first, second] = [new URL(standby.url), new URL(primary.url)];
  return `postgres://${second.username}:${second.password}@${first.host},${second.host}${second.pathname}?target_session_attrs=read-write`;
}

async function openBucket({ ready }: RunningPlatform): Promise<S3Client> {
  const api = apiClient(ready);
  const base = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
  await api.post(`${base}/buckets`, { name: Bucket });
  const { data } = await api.post<{ data: { accessKeyId: string; secretAccessKey: string } }>(`${base}/keys`, {});
  const endpoint = ready.s3_endpoint;
  return new S3Client({ endpoint, region: 'auto', forcePathStyle: true, credentials: data, maxAttempts: 1 });
}

interface Written {
  readonly acknowledged: string[];
  readonly failed: unknown[];
}

async function write(s3: S3Client, writer: number, signal: AbortSignal, { acknowledged, failed }: Written) {
  for (let number = 0; !signal.aborted; number += 1) {
    const Key = `${writer}/${number}`;
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: Key })).then(
      () => acknowledged.push(Key),
      (error: unknown) => failed.push(error),
    );
  }
}

describeRequiring(['postgres'], 'a failover to a synchronous standby', () => {
  it('loses no acknowledged write, and the platform finds the new primary', { timeout: 300_000 }, async () => {
    await using folder = await temporaryFolder();
    const { primary, standby } = await startPair(folder.path);
    try {
      const environment = {
        SVC_DATABASE_URL: urlOf(standby, primary),
        SVC_SERVICES: 'object-store',
        SVC_SHUTDOWN_LAME_DUCK_SECONDS: '0',
      };
      await using platform = await startPlatform({ dataFolder: join(folder.path, 'data'), environment });
      const s3 = await openBucket(platform);
      const written: Written = { acknowledged: [], failed: [] };
      const stop = new AbortController();
      const writers = Array.from({ length: WRITERS }, (_each, writer) => write(s3, writer, stop.signal, written));
      const more = async (): Promise<void> => {
        const before = written.acknowledged.length;
        await waitFor(() => written.acknowledged.length > before + PUTS_BETWEEN_FAULTS, { timeoutMs: 60_000 });
      };
      await more();
      await primary.kill();
      await standby.promote();
      await more();
      stop.abort();
      await Promise.all(writers);
      for (const error of written.failed) expect(error).toMatchObject({ $metadata: { httpStatusCode: 503 } });
      const lost: string[] = [];
      for (const Key of written.acknowledged) {
        const body = await s3.send(new GetObjectCommand({ Bucket, Key })).then(
          ({ Body }) => Body?.transformToString(),
          () => null,
        );
        if (body !== Key) lost.push(Key);
      }
      expect(lost).toEqual([]);
      s3.destroy();
      expect(await platform.stop()).toBe(0);
    } finally {
      await standby.stop();
      await primary.stop();
    }
  });
});
