import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { temporaryFolder } from '@svc/testing';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startManagement, type RunningManagement } from '../support/running-management.ts';
import { startStore, testConfig } from '../support/running-store.ts';
import { sendRaw } from '../support/raw-request.ts';
import { sdkClient } from '../support/s3-client.ts';

const Bucket = 'photos';
const HOUR_MS = 3_600_000;

interface Usage {
  points: {
    at: string;
    object_count: number;
    size_bytes: number;
    request_count: number;
    bytes_in: number;
    bytes_out: number;
  }[];
}

describe('usage history', () => {
  let management: RunningManagement;
  let client: S3Client;
  beforeEach(async () => {
    const limits = { ...testConfig().limits, management_requests_per_second: 10_000 };
    management = await startManagement({ limits }, new Date().toISOString());
    const { store, owner } = management;
    for (const name of [Bucket, 'other']) await management.call('POST', '/buckets', { body: { name } });
    client = sdkClient(store, await store.createKey({ workspaceUuid: owner.workspaceUuid }));
  });
  afterEach(async () => {
    client.destroy();
    await management.close();
  });

  const read = async (query = ''): Promise<Usage & Record<string, unknown>> => {
    const { status, body } = await management.call('GET', `/usage${query}`);
    expect(status).toBe(200);
    return body.data as unknown as Usage & Record<string, unknown>; // validated against the schema by the server
  };
  /** Polls for the newest point, because a response can arrive before its request is counted. */
  const newest = (query: string) =>
    expect.poll(async () => {
      await management.store.module.maintain();
      const { points } = await read(query);
      const { at: _at, ...counts } = points.at(-1) ?? { at: '' };
      return counts;
    });

  it('counts requests and body bytes on the S3 plane, per bucket and in total', async () => {
    const Body = Buffer.alloc(1_000);
    await client.send(new PutObjectCommand({ Bucket, Key: 'a', Body, ChecksumAlgorithm: undefined }));
    await (await client.send(new GetObjectCommand({ Bucket, Key: 'a' }))).Body?.transformToByteArray();
    await (
      await client.send(new GetObjectCommand({ Bucket, Key: 'a', Range: 'bytes=0-99' }))
    ).Body?.transformToByteArray();
    await client.send(new HeadObjectCommand({ Bucket, Key: 'a' }));
    const moved = { request_count: 4, bytes_in: 1_000, bytes_out: 1_100 };
    await newest(`?bucket=${Bucket}`).toEqual({ object_count: 1, size_bytes: 1_000, ...moved });
    await newest('').toEqual({ object_count: 1, size_bytes: 1_000, ...moved });
    await newest('?bucket=other').toMatchObject({ object_count: 0, size_bytes: 0, request_count: 0 });
  });

  it('counts uploads and downloads of the management API, public URLs and websites', async () => {
    const { app, owner, tenantId } = management;
    const base = await app.listen({ port: 0, host: '127.0.0.1' }); // traffic is counted on real connections
    const objects = `${base}/api/v1/workspace/${owner.workspaceUuid}/object-store/buckets/${Bucket}/objects`;
    const call = async (url: string, init: RequestInit = {}): Promise<number> => {
      const answer = await fetch(url, { ...init, headers: { ...owner.headers, ...init.headers } });
      await answer.arrayBuffer();
      return answer.status;
    };
    const body = Buffer.alloc(500);
    expect(await call(`${objects}/content?key=index.html`, { method: 'PUT', body })).toBe(201);
    await newest(`?bucket=${Bucket}`).toMatchObject({ request_count: 1, bytes_in: 500 });
    const sent = (await read()).points[0]?.bytes_out ?? 0;
    await call(`${objects}/download?key=index.html`);
    await call(`${objects}/download?key=index.html`, { method: 'HEAD' });
    await newest('').toMatchObject({ request_count: 3, bytes_out: sent + 500 });
    await management.call('PUT', `/buckets/${Bucket}/settings`, {
      body: { publicDefault: true, website: { index: 'index.html' } },
    });
    const url = `${base}/api/v1/public/object-store/t/${tenantId}/objects/index.html?bucket=${Bucket}`;
    expect(await call(url, { headers: { range: 'bytes=0-9' } })).toBe(206);
    await newest('').toMatchObject({ request_count: 4, bytes_out: sent + 510 });
    const site = { target: '/', headers: { host: `${Bucket}.web.localhost` } };
    expect((await sendRaw(management.store.endpoint, site)).body).toHaveLength(500);
    await newest('').toMatchObject({ request_count: 5, bytes_out: sent + 1_010 });
  });

  it('counts a refused request, but not one for an unknown bucket', async () => {
    const answer = await sendRaw(management.store.endpoint, { target: `/${Bucket}/secret` });
    expect(answer.status).toBe(403);
    await sendRaw(management.store.endpoint, { target: '/absent-bucket/secret' });
    await newest('').toMatchObject({ request_count: 1, bytes_out: answer.body.length });
  });

  it('counts only the sent bytes of an aborted download', async () => {
    const size = 64 * 1024 * 1024;
    await management.call('PUT', `/buckets/${Bucket}/settings`, { body: { publicDefault: true } });
    await client.send(new PutObjectCommand({ Bucket, Key: 'large', Body: Buffer.alloc(size) }));
    const socket = connect(management.port, '127.0.0.1');
    socket.write(`GET /${Bucket}/large HTTP/1.1\r\nHost: s3\r\n\r\n`);
    await once(socket, 'data');
    socket.destroy();
    await newest('').toMatchObject({ request_count: 2 });
    const { points } = await read();
    expect(points[0]?.bytes_out).toBeGreaterThan(0);
    expect(points[0]?.bytes_out).toBeLessThan(size);
  });

  it('keeps one point per hour, with what is stored at the end of it', async () => {
    const put = (key: string) =>
      management.call('PUT', `/buckets/${Bucket}/objects/content?key=${key}`, { body: Buffer.alloc(10) });
    await put('a');
    await management.store.module.maintain();
    await management.clock.advance(2 * HOUR_MS);
    await put('b');
    await management.store.module.maintain();
    const { points, quota } = await read(`?bucket=${Bucket}&resolution=hour`);
    expect(points.map(({ object_count, size_bytes }) => [object_count, size_bytes])).toEqual([
      [1, 10],
      [2, 20],
    ]);
    const [first, second] = points.map(({ at }) => Date.parse(at));
    expect((second ?? 0) - (first ?? 0)).toBe(2 * HOUR_MS);
    expect((first ?? 1) % HOUR_MS).toBe(0);
    expect(quota).toEqual({ max_bytes: null, max_objects: null });
  });

  it('shows the quota of a bucket next to its usage', async () => {
    await management.call('PUT', `/buckets/${Bucket}/settings`, { body: { quota: { max_bytes: 5_000 } } });
    expect((await read(`?bucket=${Bucket}`))['quota']).toEqual({ max_bytes: 5_000, max_objects: null });
    expect((await read())['quota']).toBeNull();
  });

  it('deletes hours and days older than configured', async () => {
    await management.store.module.maintain();
    await management.clock.advance(40 * 24 * HOUR_MS);
    await management.store.module.maintain();
    const from = new Date(management.clock.nowMs() - 41 * 24 * HOUR_MS).toISOString();
    expect((await read(`?resolution=hour&from=${from}`)).points).toHaveLength(1);
    expect((await read(`?resolution=day&from=${from}`)).points).toHaveLength(2);
    await management.clock.advance(400 * 24 * HOUR_MS);
    await management.store.module.maintain();
    expect((await read(`?resolution=day&from=${from}`)).points).toHaveLength(1);
  });

  it('leaves storage samples to the replica that holds the lease, and adds its own traffic', async () => {
    const { metadata, module } = management.store;
    const nowMs = management.clock.nowMs();
    expect(await metadata.takeLease({ name: 'usage', holder: 'another', nowMs, untilMs: nowMs + HOUR_MS })).toBe(true);
    await module.maintain();
    expect((await read()).points).toEqual([]);
    await management.call('PUT', `/buckets/${Bucket}/objects/content?key=a`, { body: Buffer.alloc(10) });
    await module.maintain();
    expect((await read()).points).toMatchObject([{ object_count: 1, size_bytes: 10 }]);
    expect((await read('?bucket=other')).points).toEqual([]);
    await metadata.releaseLease({ name: 'usage', holder: 'another' });
    await module.maintain();
    expect((await read('?bucket=other')).points).toHaveLength(1);
  });

  it.each([
    ['a span without an hour in it', '?from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z'],
    ['more periods than one answer has', '?resolution=hour&from=2020-01-01T00:00:00Z'],
    ['what is no time', '?from=yesterday'],
    ['a day that is in no calendar', '?from=2026-02-31T00:00:00Z&to=2026-13-01T00:00:00Z'],
    ['an unknown resolution', '?resolution=minute'],
  ])('rejects %s', async (_what, query) => {
    expect((await management.call('GET', `/usage${query}`)).status).toBe(400);
  });

  it('does not reveal whether another workspace has a bucket', async () => {
    const stranger = management.access.user('stranger');
    const mine = await management.call('GET', `/usage?bucket=${Bucket}`, {
      as: stranger,
      workspace: stranger.workspaceUuid,
    });
    expect(mine).toMatchObject({ status: 404, body: { data: { code: 'NoSuchBucket' } } });
    const none = await management.call('GET', '/usage?bucket=absent');
    expect(none).toMatchObject({ status: 404, body: { data: { code: 'NoSuchBucket' } } });
  });
});

it('keeps traffic counts across an orderly shutdown', async () => {
  const folder = await temporaryFolder();
  const workspaceUuid = randomUUID();
  const before = await startStore(folder.path);
  const client = sdkClient(before, await before.createKey({ workspaceUuid }));
  await client.send(new CreateBucketCommand({ Bucket }));
  await client.send(new PutObjectCommand({ Bucket, Key: 'a', Body: Buffer.alloc(10) }));
  client.destroy();
  await before.close();
  const after = await startStore(folder.path);
  const span = { fromMs: 0, toMs: Date.now() + HOUR_MS, limit: 10 };
  const [point] = await after.metadata.usageHistory({ workspaceUuid, bucketId: null, resolution: 'day', ...span });
  expect(point).toMatchObject({ objectCount: 1, sizeBytes: 10, requestCount: 1 });
  await after.close();
  await folder.remove();
});
