import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { createClient, NotFoundError, ServerError, type SvcClient } from '@svc/sdk';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startPlatform, type RunningPlatform } from '../system/running-platform.ts';
import { startCutProxy } from './cut-proxy.ts';

const DEPLOYMENT = {
  project_id: 'shop',
  namespace: 'default',
  manifest: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"}}',
  queue_if_offline: true,
};

describe('the SDK’s cluster client', () => {
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  let svc: SvcClient;
  beforeAll(async () => {
    folder = await temporaryFolder('svc-sdk-clusters-');
    const environment = { SVC_SERVICES: '["clusters"]' };
    platform = await startPlatform({ dataFolder: join(folder.path, 'data'), environment });
    svc = clientAt(platform.ready.url);
    await svc.clusters.create('home');
  });
  afterAll(async () => {
    await platform.stop();
    await folder.remove();
  });
  const clientAt = (baseUrl: string): SvcClient =>
    createClient({ baseUrl, credential: { kind: 'token', token: platform.ready.token } });

  it('follows a deployment across lost connections, and reports each event once', async () => {
    await using proxy = await startCutProxy(platform.ready.url);
    const cluster = clientAt(proxy.url).clusters.of('home');
    const { id } = await cluster.deploy(DEPLOYMENT);
    const seen: string[] = [];
    const followed = (async () => {
      for await (const event of cluster.followDeployment(id)) {
        seen.push(event.type === 'state' ? event.status : event.type);
        if (event.type === 'result') return event.result;
      }
      return null;
    })();
    await expect.poll(() => seen).toEqual(['queued']);
    for (const count of [2, 3]) {
      proxy.cut();
      await expect.poll(() => proxy.accepted).toBeGreaterThan(count);
    }
    await svc.clusters.of('home').cancelDeployment(id);
    expect((await followed)?.status).toBe('cancelled');
    expect(seen).toEqual(['queued', 'result']);
  });

  it('creates one deployment per idempotency key, and pages through deployments', async () => {
    const cluster = svc.clusters.of('home');
    const [first, second] = [
      await cluster.deploy(DEPLOYMENT, { idempotencyKey: 'once' }),
      await cluster.deploy(DEPLOYMENT, { idempotencyKey: 'once' }),
    ];
    expect(second.id).toBe(first.id);
    const page = await cluster.deployments({ pageSize: 1 });
    expect(page.items.map(({ id }) => id)).toEqual([first.id]);
    const next = await cluster.deployments({ cursor: page.nextCursor ?? '' });
    expect(next.items).toHaveLength(1);
    await cluster.cancelDeployment(first.id);
  });

  it('ends a follow with the caller’s abort reason', async () => {
    const stop = new AbortController();
    const events = svc.clusters.of('home').followEvents({}, { signal: stop.signal });
    const next = events.next();
    stop.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
  });

  it('explains why a shell, a list or a command is unavailable', async () => {
    const cluster = svc.clusters.of('home');
    const offline = { status: 503, code: 'AGENT_OFFLINE', message: 'The agent of cluster home is not connected' };
    const place = { pod: 'web-1', namespace: 'default' };
    await expect(cluster.shell(place)).rejects.toMatchObject(offline);
    await expect(cluster.pods()).rejects.toBeInstanceOf(ServerError);
    await expect(cluster.exec({ ...place, command: ['true'] })).rejects.toMatchObject(offline);
    await expect(cluster.logs(place).next()).rejects.toMatchObject(offline);
    await expect(svc.clusters.of('gone').shell(place)).rejects.toBeInstanceOf(NotFoundError);
    await expect(svc.clusters.get('gone')).rejects.toMatchObject({ status: 404, code: 'CLUSTER_NOT_FOUND' });
  });

  it('lets a signed-in browser’s cookie open a shell only from the platform’s own pages', async () => {
    const { url } = platform.ready;
    const owner = JSON.parse(await readFile(join(folder.path, 'data', 'owner.json'), 'utf8')) as {
      email: string;
      password: string;
    };
    const signIn = await fetch(new URL('/api/auth/login', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: owner.email, password: owner.password }),
    });
    const cookie = signIn.headers.getSetCookie().map((each) => each.split(';', 1)[0]);
    const address = `${url.replace(/^http/, 'ws')}/v1/clusters/home/shell?namespace=default&pod=web-1`;
    const statusOf = async (headers: Record<string, string>): Promise<number | undefined> => {
      const socket = new WebSocket(address, ['shell.v1'], { headers });
      socket.on('error', () => undefined);
      const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
      socket.terminate();
      return response.statusCode;
    };
    const cookies = cookie.join('; ');
    // 503: authorized, but there is no agent.
    expect(await statusOf({ cookie: cookies, origin: new URL(url).origin })).toBe(503);
    expect(await statusOf({ cookie: cookies, origin: 'https://evil.example' })).toBe(403);
    expect(await statusOf({ origin: new URL(url).origin })).toBe(401);
  });
});
