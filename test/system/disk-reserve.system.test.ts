import { temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { apiClient } from './api-client.ts';
import { startPlatform } from './running-platform.ts';

/** More than any test machine's disk. */
const ALL_OF_IT = '16777216';

it('a platform with only its disk reserve left starts, says so, and refuses only what takes space', async () => {
  await using folder = await temporaryFolder();
  const start = (reserveMb: string) =>
    startPlatform({
      dataFolder: folder.path,
      environment: { SVC_SERVICES: 'object-store,sandboxes', SVC_DISK_RESERVE_MB: reserveMb },
    });
  const refusals: Record<string, unknown>[] = [];
  {
    await using platform = await start(ALL_OF_IT);
    const { ready } = platform;
    expect(platform.log()).toContain('only the disk reserve is left');
    const store = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
    const api = apiClient(ready);
    await api.post(`${store}/buckets`, { name: 'short' });
    await api.get('/api/auth/me');
    await api.get('/healthz');
    const call = (method: string, path: string, body: string, type: string) =>
      fetch(new URL(path, ready.url), {
        method,
        body,
        headers: { authorization: `Bearer ${ready.token}`, 'content-type': type, connection: 'close' },
      });
    for (const answer of [
      await call('PUT', `${store}/buckets/short/objects/content?key=file.txt`, 'text', 'text/plain'),
      await call('POST', '/api/sandboxes', JSON.stringify({ image: 'busybox' }), 'application/json'),
    ]) {
      refusals.push({ status: answer.status, ...((await answer.json()) as object) }); // an error of either family
    }
  }
  expect(refusals).toMatchObject([
    { status: 507, message: expect.stringContaining('ask the operator'), data: { code: 'InsufficientStorage' } },
    { status: 507, code: 'HOST_DISK_FULL', message: expect.stringContaining('ask the operator') },
  ]);
  await using platform = await start('0');
  expect(platform.log()).not.toContain('only the disk reserve');
});
