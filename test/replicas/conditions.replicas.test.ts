import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { describeRequiring } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { apiClient } from '../system/api-client.ts';
import { startEngine, type Engine } from './engine.ts';
import { createReplicas, type Replicas } from './replicas.ts';

const Bucket = 'conditions';
const CLIENTS = 8;
const ROUNDS = 10;
/** Additions of each client to the counter. */
const ADDITIONS = 8;

describeRequiring(['postgres'], 'conditional writes at two replicas', () => {
  let engine: Engine;
  let replicas: Replicas;
  let at: S3Client[];
  beforeEach(async () => {
    engine = await startEngine();
    const { environment } = engine;
    replicas = await createReplicas('["object-store"]');
    const platforms = [
      await replicas.start({ name: 'a', environment }),
      await replicas.start({ name: 'b', environment }),
    ];
    const [{ ready }] = platforms as [(typeof platforms)[number]];
    const base = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
    await apiClient(ready).post(`${base}/buckets`, { name: Bucket });
    const { data: credentials } = await apiClient(ready).post<{
      data: { accessKeyId: string; secretAccessKey: string };
    }>(`${base}/keys`, {});
    at = platforms.map(
      ({ ready: { s3_endpoint: endpoint } }) =>
        new S3Client({ endpoint, region: 'auto', forcePathStyle: true, credentials }),
    );
  });
  afterEach(async () => {
    for (const s3 of at) s3.destroy();
    await replicas[Symbol.asyncDispose]();
    await engine[Symbol.asyncDispose]();
  });

  /** Clients at both replicas in turns. */
  const clients = <Result>(run: (s3: S3Client, client: number) => Promise<Result>): Promise<Result[]> =>
    Promise.all(Array.from({ length: CLIENTS }, (_, client) => run(at[client % at.length] as S3Client, client)));

  /** The status of a refusal by a condition; any other error fails the test. */
  const refusal = (error: unknown): number => {
    const { $metadata } = error as { $metadata?: { httpStatusCode?: number } }; // of the SDK's errors
    const status = $metadata?.httpStatusCode ?? 0;
    if (status !== 412 && status !== 409) throw error;
    return status;
  };
  const read = async (s3: S3Client, Key: string) => {
    const { Body, ETag = '' } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    return { text: (await Body?.transformToString()) ?? '', ETag };
  };

  it('let one client create an object, whose bytes both return', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const Key = `once/${round}`;
      const outcomes = await clients((s3, client) =>
        s3.send(new PutObjectCommand({ Bucket, Key, Body: `by ${client}`, IfNoneMatch: '*' })).then(() => 200, refusal),
      );
      expect(outcomes.filter((status) => status === 200)).toHaveLength(1);
      const winner = `by ${outcomes.indexOf(200)}`;
      for (const s3 of at) expect((await read(s3, Key)).text).toBe(winner);
    }
  });

  it('lose no addition to a counter that is written back if it is unchanged', async () => {
    const Key = 'counter';
    await at[0]?.send(new PutObjectCommand({ Bucket, Key, Body: '0' }));
    await clients(async (s3) => {
      for (let left = ADDITIONS; left > 0;) {
        const { text, ETag: IfMatch } = await read(s3, Key);
        const Body = String(Number(text) + 1);
        const status = await s3.send(new PutObjectCommand({ Bucket, Key, Body, IfMatch })).then(() => 200, refusal);
        if (status === 200) left -= 1;
      }
    });
    for (const s3 of at) expect((await read(s3, Key)).text).toBe(String(CLIENTS * ADDITIONS));
  });
});
