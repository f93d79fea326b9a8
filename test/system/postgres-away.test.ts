import { readFileSync } from 'node:fs';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { migrations } from '@svc/migrations';
import {
  POSTGRES_URL_VARIABLE,
  postgresSource,
  requirement,
  skippedTitle,
  startCuttableProxy,
  temporaryFolder,
  waitFor,
} from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { apiClient } from './api-client.ts';
import { startPlatform, type RunningPlatform } from './running-platform.ts';

const TIMEOUT_MS = 5 * 60_000;
const WRITERS = 8;

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const title = 'a platform whose PostgreSQL server goes away';
const reason = requirement('postgres');
describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  it(
    'answers 503 with Retry-After everywhere, keeps running and loses no acknowledged write',
    { timeout: TIMEOUT_MS },
    async () => {
      const url = new URL(process.env[POSTGRES_URL_VARIABLE] ?? '');
      await using source = await postgresSource(url.href, migrations);
      const database = await source.open<unknown>();
      await using proxy = await startCuttableProxy({ host: url.hostname, port: Number(url.port) });
      url.pathname = new URL(database.location ?? '').pathname;
      url.port = String(proxy.port);
      await using folder = await temporaryFolder();
      const environment = { SVC_DATABASE_URL: url.href, SVC_SERVICES: 'object-store,clusters' };
      await using platform = await startPlatform({ dataFolder: folder.path, environment });
      const s3 = await openBucket(platform);
      const acknowledged: string[] = [];
      const stop = new AbortController();
      const write = async (writer: number): Promise<void> => {
        for (let index = 0; !stop.signal.aborted; index += 1) {
          const Key = `${writer}/${index}`;
          await s3.send(new PutObjectCommand({ Bucket: 'away', Key, Body: Key })).then(
            () => acknowledged.push(Key),
            (error: unknown) => expect(error).toMatchObject({ $metadata: { httpStatusCode: 503 } }),
          );
        }
      };
      const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
      for (let round = 0; round < 3; round += 1) {
        const written = acknowledged.length;
        await waitFor(() => acknowledged.length > written + 20);
        await proxy.cut();
        await expectAway(platform, s3);
        await proxy.restore();
      }
      const written = acknowledged.length;
      await waitFor(() => acknowledged.length > written + 20);
      stop.abort();
      await Promise.all(writers);
      for (const Key of acknowledged) {
        const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'away', Key }));
        expect(await Body?.transformToString()).toBe(Key);
      }
      expect(await platform.stop()).toBe(0);
      await database.close();
    },
  );
});

async function openBucket({ ready }: RunningPlatform): Promise<S3Client> {
  const api = apiClient(ready);
  const store = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
  await api.post(`${store}/buckets`, { name: 'away' });
  const { data } = await api.post<{ data: { accessKeyId: string; secretAccessKey: string } }>(`${store}/keys`, {
    permissions: ['read', 'write', 'admin'],
  });
  return new S3Client({
    endpoint: ready.s3_endpoint,
    region: 'auto',
    forcePathStyle: true,
    credentials: data,
    maxAttempts: 1,
  });
}

async function expectAway({ ready }: RunningPlatform, s3: S3Client): Promise<void> {
  const away = { name: 'ServiceUnavailable', $metadata: { httpStatusCode: 503 } };
  await expect(s3.send(new GetObjectCommand({ Bucket: 'away', Key: '0/0' }))).rejects.toMatchObject(away);
  const answers = await Promise.all(
    routes(ready.workspace_uuid).map(async (path) => {
      const response = await fetch(`${ready.url}${path}`, { headers: { authorization: `Bearer ${ready.token}` } });
      await response.body?.cancel();
      return { path, status: response.status, retryAfter: response.headers.get('retry-after') };
    }),
  );
  const failed = answers.filter(({ status }) => status >= 500);
  expect(failed.length).toBeGreaterThan(10);
  // A disabled service answers 501; everything else that fails says when to come back.
  expect(failed.filter(({ status, retryAfter }) => status !== 501 && (status !== 503 || retryAfter === null))).toEqual(
    [],
  );
}

/** Every path that can be read, with the own workspace and otherwise made-up parameters. */
function routes(workspaceUuid: string): string[] {
  const file = new URL('../../api/openapi.json', import.meta.url);
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as OpenApi; // written by the project's own command
  return Object.entries(paths)
    .filter(([, methods]) => Object.hasOwn(methods, 'get'))
    .map(([path]) => path.replace(/\{(?:workspace_)?uuid\}|\{workspace\}/, workspaceUuid).replaceAll(/\{\w+\}/g, 'x'));
}
