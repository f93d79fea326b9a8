import { join } from 'node:path';
import { temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { Sandbox } from 'e2b';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { apiClient } from './api-client.ts';
import { startPlatform, type RunningPlatform } from './running-platform.ts';

let folder: TemporaryFolder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await folder.remove();
});

/** The settings that the documentation names. */
function pointTo({ ready }: RunningPlatform, key: string): void {
  vi.stubEnv('E2B_API_URL', `${ready.url}/e2b`);
  vi.stubEnv('E2B_SANDBOX_URL', `${ready.url}/e2b/envd`);
  vi.stubEnv('E2B_API_KEY', key);
}

it('serves the E2B SDK by its environment variables, through a kill of the platform', async () => {
  const dataFolder = join(folder.path, 'data');
  const environment = { SVC_SANDBOXES_IMAGE_REGISTRY: '' };
  let pid: number;
  let id: string;
  let key: string;
  {
    await using platform = await startPlatform({ dataFolder, environment });
    key = (await apiClient(platform.ready).post<{ key: string }>('/e2b/api-keys', { name: 'agents' })).key;
    pointTo(platform, key);
    const sandbox = await Sandbox.create('busybox', { timeoutMs: 600_000 });
    id = sandbox.sandboxId;
    const loop = 'while read line; do echo "got $line"; done';
    pid = (await sandbox.commands.run(loop, { background: true, stdin: true })).pid;
    await platform.kill();
  }
  await using platform = await startPlatform({ dataFolder, environment });
  pointTo(platform, key);
  const sandbox = await Sandbox.connect(id);
  const received: string[] = [];
  const command = await sandbox.commands.connect(pid, { onStdout: (text) => void received.push(text) });
  await command.sendStdin('again\n');
  await waitFor(() => received.join('') === 'got again\n');
  expect(await sandbox.kill()).toBe(true);
});

it('manages keys of the real accounts, which have the rights of their scope only', async () => {
  const dataFolder = join(folder.path, 'data');
  await using platform = await startPlatform({ dataFolder, environment: { SVC_SANDBOXES_IMAGE_REGISTRY: '' } });
  const owner = apiClient(platform.ready);
  const { id, key } = await owner.post<{ id: string; key: string }>('/e2b/api-keys', { name: 'agents' });
  expect(key).toMatch(/^e2b_[0-9a-f]{40}$/);
  const ask = async (method: string, path: string, headers: Record<string, string> = { 'x-api-key': key }) => {
    const response = await fetch(`${platform.ready.url}/e2b${path}`, { method, headers });
    return response.status;
  };
  const workspace = platform.ready.workspace_uuid;
  expect(await ask('GET', '/v2/sandboxes')).toBe(200);
  expect(await ask('GET', `/teams/${workspace}/metrics`)).toBe(200);
  expect(await ask('GET', '/teams/another/metrics')).toBe(404);
  expect(await ask('GET', '/api-keys')).toBe(403);
  expect(await ask('DELETE', `/api-keys/${id}`)).toBe(403);
  expect(await ask('GET', '/api-keys', {})).toBe(401);
  expect(await owner.get('/e2b/api-keys')).toMatchObject([{ id, name: 'agents', lastUsed: expect.any(String) }]);
  await owner.delete(`/e2b/api-keys/${id}`);
  expect(await ask('GET', '/v2/sandboxes')).toBe(401);
});
