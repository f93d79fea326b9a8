import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describeRequiring, waitFor } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { RunningPlatform } from '../system/running-platform.ts';
import { createReplicas, type Replicas } from './replicas.ts';

const NEEDS = [
  'postgres',
  'linux',
  'root',
  'cgroups',
  'command:crun',
  'command:mkfs.ext4',
  'command:nft',
  'command:busybox',
] as const;

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  // Tests read fields of JSON responses; a wrong assumption fails the expectation.
  readonly body: Record<string, any>; // oxlint-disable-line typescript/no-explicit-any
}

describeRequiring([...NEEDS], 'sandboxes of two replicas', () => {
  let replicas: Replicas;
  let a: RunningPlatform;
  let b: RunningPlatform;
  beforeEach(async () => {
    replicas = await createReplicas('sandboxes');
    a = await replicas.start({ name: 'a' });
    b = await replicas.start({ name: 'b' });
  });
  afterEach(async () => {
    for (const platform of [a, b]) {
      const { body } = await call(platform, 'GET', '').catch(() => ({ body: {} as Answer['body'] })); // it may be dead
      for (const { id } of body['containers'] ?? []) await call(platform, 'DELETE', `/${id}`);
      await waitFor(() => disks('a').length + disks('b').length === 0, { timeoutMs: 60_000, description: 'no disks' });
    }
    await replicas[Symbol.asyncDispose]();
  });

  const call = async (platform: RunningPlatform, method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${platform.ready.url}/api/sandboxes${path}`, {
      method,
      // One owner, so that each platform's token works at the other one.
      headers: {
        authorization: `Bearer ${platform.ready.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return {
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
      body: (await response.json()) as Answer['body'],
    };
  };
  const disks = (name: string): string[] => {
    try {
      return readdirSync(join(replicas.dataFolder(name), 'sandboxes', 'disks'));
    } catch {
      return []; // none yet
    }
  };
  const create = async (platform: RunningPlatform): Promise<string> => {
    const made = await call(platform, 'POST', '?wait_ms=30000', { image: 'busybox', network: 'none' });
    const id = String(made.body['id']);
    await expect
      .poll(async () => (await call(platform, 'GET', `/${id}`)).body['status'], { timeout: 120_000 })
      .toBe('running');
    return id;
  };
  const run = async (platform: RunningPlatform, id: string, command: string): Promise<unknown> =>
    (await call(platform, 'POST', `/${id}/exec`, { command })).body['stdout'];

  it('are used only where they are, read everywhere, and deleted everywhere', async () => {
    const id = await create(a);
    await run(a, id, 'echo kept > /root/file');
    const elsewhere = { status: 503, retryAfter: '1', body: { code: 'SANDBOX_ELSEWHERE' } };
    for (const operation of ['stop', 'start', 'pause', 'resume', 'snapshots', 'fork'])
      expect(await call(b, 'POST', `/${id}/${operation}`)).toMatchObject(elsewhere);
    expect(await call(b, 'POST', `/${id}/exec`, { command: 'true' })).toMatchObject(elsewhere);
    expect(await call(b, 'GET', `/${id}/files?path=/root/file`)).toMatchObject(elsewhere);
    expect(await call(b, 'GET', `/${id}/metrics`)).toMatchObject(elsewhere);
    expect(await openTerminal(b, id)).toBe(503);
    expect((await call(b, 'GET', `/${id}`)).body).toMatchObject({ status: 'running' });
    expect((await call(b, 'GET', '')).body).toMatchObject({ count: 1 });
    expect(await run(a, id, 'cat /root/file')).toBe('kept\n');
    expect([disks('a'), disks('b')]).toEqual([[id], []]);

    expect((await call(b, 'DELETE', `/${id}`)).status).toBe(200);
    expect((await call(a, 'GET', `/${id}`)).status).toBe(404);
    await waitFor(() => disks('a').length === 0, { description: 'the disk to go without a restart' });
  });

  it('are reported as lost after kill -9 of their replica, and continue when it returns', async () => {
    const id = await create(a);
    await run(a, id, 'sleep 1000 & echo $! > /root/pid');
    await a.kill();
    expect((await call(b, 'GET', `/${id}`)).body).toMatchObject({ status: 'running' });
    await expect
      .poll(async () => (await call(b, 'GET', `/${id}`)).body, { timeout: 60_000, interval: 500 })
      .toMatchObject({ status: 'error', error: { code: 'NODE_LOST', recoverable: true } });
    expect(await call(b, 'POST', `/${id}/start`)).toMatchObject({
      status: 503,
      retryAfter: '10',
      body: { code: 'SANDBOX_ELSEWHERE', details: { node_is_live: false } },
    });
    a = await replicas.start({ name: 'a' });
    expect((await call(b, 'GET', `/${id}`)).body).toMatchObject({ status: 'running', error: null });
    expect(await run(a, id, 'kill -0 "$(cat /root/pid)" && echo runs on')).toBe('runs on\n');
  });
});

/** Status of the refused upgrade. */
function openTerminal({ ready }: RunningPlatform, id: string): Promise<number | undefined> {
  const socket = new WebSocket(`${ready.url.replace('http', 'ws')}/ws/terminal/${id}`, {
    headers: { authorization: `Bearer ${ready.token}` },
  });
  return new Promise((resolve, reject) => {
    socket.once('open', () => reject(new Error('the terminal was opened')));
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      resolve(response.statusCode);
      socket.terminate();
    });
  });
}
