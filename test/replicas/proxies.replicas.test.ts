import { createHash } from 'node:crypto';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { describeRequiring, freePort, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import { apiClient } from '../system/api-client.ts';
import type { RunningPlatform } from '../system/running-platform.ts';
import { startEngine } from './engine.ts';
import { PROXIES, startProxy, type ReplicaPorts } from './proxies.ts';
import { createReplicas } from './replicas.ts';

const WRITERS_PER_PROXY = 3;
const PUTS_BETWEEN_RESTARTS = 60;
const Bucket = 'rolling';
/** Bodies in the database, and bodies in the engine. */
const BODY_BYTES = [1_000, 200_000] as const;

interface Key {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** What the writers behind one proxy did. */
interface Outcome {
  readonly s3: S3Client;
  /** ETags of acknowledged objects. */
  readonly done: Map<string, string>;
  readonly failed: unknown[];
}

/** Writes and reads back until the signal, with the retries that the SDK has by default. */
async function write({ s3, done, failed }: Outcome, writer: string, signal: AbortSignal): Promise<void> {
  for (let number = 0; !signal.aborted; number += 1) {
    const name = `${writer}/${number}`;
    const Body = Buffer.alloc(BODY_BYTES[number % BODY_BYTES.length] ?? 0, name);
    try {
      await s3.send(new PutObjectCommand({ Bucket, Key: name, Body }));
      done.set(name, `"${createHash('md5').update(Body).digest('hex')}"`);
      const { Body: stored } = await s3.send(new GetObjectCommand({ Bucket, Key: name }));
      if (!Body.equals((await stored?.transformToByteArray()) ?? Buffer.of()))
        throw new Error(`${name} reads otherwise`);
    } catch (error) {
      failed.push(error);
    }
  }
}

async function createBucket({ ready }: RunningPlatform): Promise<Key> {
  const api = apiClient(ready);
  const base = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
  await api.post(`${base}/buckets`, { name: Bucket });
  return (await api.post<{ data: Key }>(`${base}/keys`, { label: Bucket })).data;
}

async function listETags(s3: S3Client): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let token: string | undefined;
  do {
    const page = await s3.send(new ListObjectsV2Command({ Bucket, ContinuationToken: token }));
    for (const { Key: name = '', ETag = '' } of page.Contents ?? []) found.set(name, ETag);
    token = page.NextContinuationToken;
  } while (token !== undefined);
  return found;
}

describeRequiring(
  ['postgres', 'command:haproxy', 'command:nginx'],
  'a rolling restart behind HAProxy and nginx',
  () => {
    it('fails no request that an SDK sends, and loses no acknowledged object', { timeout: 300_000 }, async () => {
      await using engine = await startEngine();
      await using replicas = await createReplicas('["object-store"]');
      const environment = {
        ...engine.environment,
        SVC_SHUTDOWN_LAME_DUCK_SECONDS: '5', // the default with PostgreSQL
        SVC_TRUSTED_PROXIES: '["127.0.0.1/32"]',
      };
      const ports: ReplicaPorts[] = [];
      for (let index = 0; index < 2; index += 1) ports.push({ platform: await freePort(), s3: await freePort() });
      const start = (index: number): Promise<RunningPlatform> =>
        replicas.start({
          name: `svc-${index + 1}`,
          environment,
          flags: ['--port', String(ports[index]?.platform), '--s3-port', String(ports[index]?.s3)],
        });
      const first = await start(0);
      const platforms = [first, await start(1)];
      await using haproxy = await startProxy(PROXIES.haproxy, ports, replicas.folder);
      await using nginx = await startProxy(PROXIES.nginx, ports, replicas.folder);
      const { region, ...credentials } = await createBucket(first);
      const outcomes = [haproxy, nginx].map(({ s3Endpoint: endpoint }): Outcome => {
        const s3 = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
        return { s3, done: new Map(), failed: [] };
      });
      const stop = new AbortController();
      const writers = outcomes.flatMap((outcome, proxy) =>
        Array.from({ length: WRITERS_PER_PROXY }, (_, writer) => write(outcome, `${proxy}-${writer}`, stop.signal)),
      );
      const more = async (): Promise<void> => {
        const wanted = outcomes.map(({ done }) => done.size + PUTS_BETWEEN_RESTARTS);
        const isEnough = (): boolean =>
          outcomes.every(({ done, failed }, proxy) => failed.length > 0 || done.size >= (wanted[proxy] ?? 0));
        await waitFor(isEnough, { timeoutMs: 60_000, description: 'objects through both proxies' });
      };
      await more();
      for (const [index, platform] of platforms.entries()) {
        expect(await platform.stop()).toBe(0);
        await more(); // with the other replica alone
        await start(index);
      }
      await more();
      stop.abort();
      await Promise.all(writers);
      expect(outcomes.map(({ failed }) => failed)).toEqual([[], []]);
      for (const { s3, done } of outcomes) {
        const found = await listETags(s3);
        expect([...done].filter(([name, etag]) => found.get(name) !== etag)).toEqual([]);
        s3.destroy();
      }
    });
  },
);
