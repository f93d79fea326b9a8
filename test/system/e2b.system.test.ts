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
