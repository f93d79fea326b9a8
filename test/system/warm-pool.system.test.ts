import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { once } from 'node:events';
import { join } from 'node:path';
import type { PlatformStatus } from '@svc/sdk';
import { temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { apiClient } from './api-client.ts';
import { startPlatform } from './running-platform.ts';

let folder: TemporaryFolder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

it('reports warm sandboxes and the creates that used one', async () => {
  const environment = { SVC_SANDBOXES_WARM_POOL: '[{"image":"busybox","min":1,"max":1}]' };
  await using platform = await startPlatform({ dataFolder: join(folder.path, 'data'), environment });
  const api = apiClient(platform.ready);
  const pool = async () => {
    const { services } = await api.get<PlatformStatus>('/api/v1/platform/status');
    return services.sandboxes.warm_pool;
  };
  await waitFor(async () => (await pool())[0]?.ready === 1, { timeoutMs: 240_000 });
  expect(await pool()).toEqual([{ image: 'busybox', ready: 1, target: 1, hits: 0, misses: 0 }]);
  const { id } = await api.post<{ id: string }>('/api/containers', { image: 'busybox' });
  await waitFor(async () => (await api.get<{ status: string }>(`/api/containers/${id}`)).status === 'running');
  expect(await pool()).toMatchObject([{ image: 'busybox', hits: 1, misses: 0 }]);
  await api.delete(`/api/containers/${id}`);
  await expect(apiClient({ url: platform.ready.url }).get('/api/v1/platform/status')).rejects.toThrow('401');
});

it('issues certificates for preview names from the data folder’s authority', async () => {
  const dataFolder = join(folder.path, 'data');
  const environment = { SVC_SANDBOXES_PREVIEW_DOMAIN: 'previews.test' };
  await using platform = await startPlatform({ dataFolder, environment });
  const ca = readFileSync(join(dataFolder, 'tls', 'ca.crt'), 'utf8');
  const { hostname, port } = new URL(platform.ready.https_url);
  const socket = connect({ host: hostname, port: Number(port), servername: '8080-sbx.previews.test', ca });
  await once(socket, 'secureConnect');
  expect(new X509Certificate(socket.getPeerCertificate().raw).checkHost('8080-sbx.previews.test')).toBeDefined();
  socket.destroy();
});
