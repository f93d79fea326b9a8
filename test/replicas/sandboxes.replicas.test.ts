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

  it('are used and deleted at every replica', async () => {
    const id = await create(a);
    expect(await run(b, id, 'echo kept > /root/file; hostname > /root/name')).toBe('');
    expect(await run(a, id, 'cat /root/file')).toBe('kept\n');
    const uploaded = await fetch(`${b.ready.url}/api/sandboxes/${id}/files?path=/root/big`, {
      method: 'POST',
      headers: { authorization: `Bearer ${b.ready.token}`, 'content-type': 'application/octet-stream' },
      body: Buffer.alloc(20 * 1024 * 1024, 7),
    });
    expect(uploaded.ok).toBe(true);
    expect(await run(a, id, 'wc -c < /root/big')).toBe(`${20 * 1024 * 1024}\n`);
    const downloaded = await fetch(`${b.ready.url}/api/sandboxes/${id}/files?path=/root/big`, {
      headers: { authorization: `Bearer ${b.ready.token}` },
    });
    expect((await downloaded.arrayBuffer()).byteLength).toBe(20 * 1024 * 1024);
    expect((await call(b, 'GET', `/${id}/metrics`)).status).toBe(200);
    expect(await typed(b, id, 'echo $((40 + 2))\n', '42')).toContain('42');
    expect([disks('a'), disks('b')]).toEqual([[id], []]);

    expect((await call(b, 'POST', `/${id}/stop`)).status).toBeLessThan(300);
    expect((await call(a, 'GET', `/${id}?wait_for=stopped&timeout=30`)).body).toMatchObject({ status: 'stopped' });
    expect((await call(b, 'POST', `/${id}/start`)).status).toBeLessThan(300);
    expect((await call(b, 'GET', `/${id}?wait_for=running&timeout=30`)).body).toMatchObject({ status: 'running' });
    expect(await run(b, id, 'cat /root/file')).toBe('kept\n');

    expect((await call(b, 'DELETE', `/${id}`)).status).toBe(200);
    expect((await call(a, 'GET', `/${id}`)).status).toBe(404);
    await waitFor(() => disks('a').length === 0, { description: 'the disk to go without a restart' });
  });

  it('open terminals at every replica with a ticket, which works once', async () => {
    const id = await create(a);
    const { body } = await call(b, 'POST', `/${id}/terminal/tickets`);
    const ticket = String(body['ticket']);
    expect(await typed(b, id, 'echo $((40 + 2))\n', '42', ticket)).toContain('42');
    await expect(typed(b, id, 'true\n', '42', ticket)).rejects.toThrow('401');
  });

  it('serve their ports at every replica', async () => {
    const id = await create(a);
    await run(a, id, 'mkdir -p /www && echo page > /www/index.html && httpd -p 8080 -h /www');
    const { body } = await call(b, 'POST', `/${id}/ports`, { port: 8080 });
    const link = new URL(String(body['path_url']));
    for (const platform of [a, b]) {
      const answer = await fetch(`${platform.ready.url}${link.pathname}`);
      expect([answer.status, await answer.text()]).toEqual([200, 'page\n']);
    }
    expect((await call(b, 'DELETE', `/${id}/ports`)).status).toBeLessThan(300);
    expect((await fetch(`${b.ready.url}${link.pathname}`)).status).toBe(401);
    expect((await call(b, 'PUT', `/${id}/ports`, { public: true })).status).toBe(200);
    for (const platform of [a, b]) {
      // As E2B's code interpreter names a port.
      const headers = { 'e2b-sandbox-id': id.replace('sbx_', ''), 'e2b-sandbox-port': '8080', cookie: 'a=b' };
      const answer = await fetch(`${platform.ready.url}/e2b/envd/index.html`, { headers });
      expect([answer.status, await answer.text()]).toEqual([200, 'page\n']);
    }
  });

  it('are refused by name at a replica that cannot reach the other one', async () => {
    await b.stop();
    b = await replicas.start({ name: 'b', environment: { SVC_INTERNAL_LISTEN: 'off' } });
    const id = await create(a);
    await run(a, id, 'echo kept > /root/file');
    const elsewhere = { status: 503, retryAfter: '1', body: { code: 'SANDBOX_ELSEWHERE' } };
    for (const operation of ['stop', 'start', 'pause', 'resume', 'snapshots', 'fork'])
      expect(await call(b, 'POST', `/${id}/${operation}`)).toMatchObject(elsewhere);
    expect(await call(b, 'POST', `/${id}/exec`, { command: 'true' })).toMatchObject(elsewhere);
    expect(await call(b, 'GET', `/${id}/files?path=/root/file`)).toMatchObject(elsewhere);
    expect(await call(b, 'GET', `/${id}/metrics`)).toMatchObject(elsewhere);
    await expect(typed(b, id, '', '')).rejects.toThrow('503');
    expect((await call(b, 'GET', `/${id}`)).body).toMatchObject({ status: 'running' });
    expect((await call(b, 'GET', '')).body).toMatchObject({ count: 1 });
    expect(await run(a, id, 'cat /root/file')).toBe('kept\n');
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

/** Types into a terminal and returns its output until `expected` shows. Rejects with the status of a refusal. */
function typed(
  { ready }: RunningPlatform,
  id: string,
  input: string,
  expected: string,
  ticket?: string,
): Promise<string> {
  const query = ticket === undefined ? '' : `?ticket=${ticket}`;
  const headers = ticket === undefined ? { authorization: `Bearer ${ready.token}` } : {};
  const socket = new WebSocket(`${ready.url.replace('http', 'ws')}/ws/terminal/${id}${query}`, { headers });
  return new Promise((resolve, reject) => {
    let output = '';
    socket.once('open', () => socket.send(input));
    socket.on('message', (data: Buffer) => {
      output += data.toString('utf8');
      if (!output.includes(expected)) return;
      socket.terminate();
      resolve(output);
    });
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      socket.terminate();
      reject(new Error(`refused with ${response.statusCode ?? 0}`));
    });
  });
}
