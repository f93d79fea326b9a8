import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { describeRequiring, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import { apiClient } from '../system/api-client.ts';
import type { ReadyLine, RunningPlatform } from '../system/running-platform.ts';
import { startEngine } from './engine.ts';
import { createReplicas } from './replicas.ts';

const CHECK_INTERVAL_MS = 100;
const WRITERS = 8;
const PUTS_BETWEEN_RESTARTS = 200;

type ReplicaName = 'first' | 'second';

interface Key {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** Like a proxy: checks `/readyz`, sends to replicas that are ready over kept connections, and repeats nothing. */
class Balancer {
  readonly #replicas = new Map<ReplicaName, { platform: RunningPlatform; s3: S3Client; isReady: boolean }>();
  readonly #stopping = new AbortController();
  readonly #checks: Promise<void>[] = [];
  #turn = 0;

  put(name: ReplicaName, platform: RunningPlatform, credentials: Key): void {
    const s3 = new S3Client({
      endpoint: platform.ready.s3_endpoint,
      region: credentials.region,
      credentials,
      forcePathStyle: true,
      maxAttempts: 1,
      requestHandler: { httpAgent: new Agent({ keepAlive: true, maxSockets: WRITERS }) },
    });
    const replica = { platform, s3, isReady: true };
    this.#replicas.get(name)?.s3.destroy();
    this.#replicas.set(name, replica);
    this.#checks.push(this.#check(replica));
  }

  next(): S3Client {
    const ready = [...this.#replicas.values()].filter(({ isReady }) => isReady);
    const chosen = ready[(this.#turn += 1) % ready.length];
    if (chosen === undefined) throw new Error('no replica is ready');
    return chosen.s3;
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#checks);
    for (const { s3 } of this.#replicas.values()) s3.destroy();
  }

  async #check(replica: { platform: RunningPlatform; isReady: boolean }): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      replica.isReady = await fetch(`${replica.platform.ready.url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (!replica.isReady) return;
      await delay(CHECK_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Writes until the signal; `done` are the acknowledged keys. */
async function write(
  balancer: Balancer,
  Bucket: string,
  writer: number,
  signal: AbortSignal,
  { done, failed }: { done: Set<string>; failed: unknown[] },
): Promise<void> {
  for (let number = 0; !signal.aborted; number += 1) {
    const Key = `${writer}/${number}`;
    try {
      await balancer.next().send(new PutObjectCommand({ Bucket, Key, Body: Key }));
      done.add(Key);
    } catch (error) {
      failed.push(error);
    }
  }
}

async function createBucket(ready: ReadyLine): Promise<Key> {
  const api = apiClient(ready);
  const base = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
  await api.post(`${base}/buckets`, { name: 'rolling' });
  return (await api.post<{ data: Key }>(`${base}/keys`, { label: 'rolling' })).data;
}

async function listKeys(s3: S3Client, Bucket: string): Promise<Set<string>> {
  const keys = new Set<string>();
  let token: string | undefined;
  do {
    const page = await s3.send(new ListObjectsV2Command({ Bucket, ContinuationToken: token }));
    for (const { Key } of page.Contents ?? []) keys.add(Key ?? '');
    token = page.NextContinuationToken;
  } while (token !== undefined);
  return keys;
}

describeRequiring(['postgres'], 'a rolling restart behind a proxy', () => {
  it('fails no request and loses no acknowledged object', { timeout: 300_000 }, async () => {
    await using engine = await startEngine();
    await using replicas = await createReplicas('["object-store"]');
    const environment = { ...engine.environment, SVC_SHUTDOWN_LAME_DUCK_SECONDS: '1' };
    const start = (name: ReplicaName): Promise<RunningPlatform> => replicas.start({ name, environment });
    const platforms = { first: await start('first'), second: await start('second') };
    const credentials = await createBucket(platforms.second.ready);
    const balancer = new Balancer();
    for (const name of ['first', 'second'] as const) balancer.put(name, platforms[name], credentials);
    const stop = new AbortController();
    const outcome = { done: new Set<string>(), failed: [] as unknown[] };
    const writers = Array.from({ length: WRITERS }, (_each, writer) =>
      write(balancer, 'rolling', writer, stop.signal, outcome),
    );
    const more = async (): Promise<void> => {
      const before = outcome.done.size;
      await waitFor(() => outcome.done.size > before + PUTS_BETWEEN_RESTARTS || outcome.failed.length > 0, {
        timeoutMs: 60_000,
      });
    };
    await more();
    for (const name of ['first', 'second'] as const) {
      expect(await platforms[name].stop()).toBe(0);
      await more();
      balancer.put(name, await start(name), credentials);
      await more();
    }
    stop.abort();
    await Promise.all(writers);
    expect(outcome.failed).toEqual([]);
    const kept = await listKeys(balancer.next(), 'rolling');
    expect([...outcome.done].filter((key) => !kept.has(key))).toEqual([]);
    await balancer.close();
  });
});
