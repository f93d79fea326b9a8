import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, type PlatformStatus } from '@svc/sdk';
import { describeRequiring, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient, type ApiClient } from '../system/api-client.ts';
import { removeSandboxes } from '../system/remove-sandboxes.ts';
import { runSvc, startPlatform, type RunningPlatform } from '../system/running-platform.ts';
import { ensureGvisor } from './binaries.ts';

interface Sandbox {
  readonly id: string;
  readonly status: string;
  readonly isolation: string;
  readonly shares_kernel: boolean;
}

const NEEDED = ['linux', 'root', 'cgroups', 'go', 'command:mkfs.ext4', 'command:nft', 'command:busybox'] as const;

/** `sandboxes.isolation` keeps its default. */
describeRequiring(NEEDED, 'svc up with runsc installed', () => {
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  let api: ApiClient;
  const start = async (runsc: string): Promise<void> => {
    platform = await startPlatform({
      dataFolder: join(folder.path, 'data'),
      environment: {
        SVC_SANDBOXES_RUNSC: runsc,
        SVC_SANDBOXES_IMAGE_REGISTRY: '',
        SVC_SANDBOXES_WARM_POOL: '[{"image":"busybox","min":1,"max":1}]',
      },
    });
    api = apiClient(platform.ready);
  };
  const state = async () => (await api.get<PlatformStatus>('/api/v1/platform/status')).services.sandboxes;
  const words = async (): Promise<string> => {
    const { url, token } = platform.ready;
    const { stdout } = await runSvc(['status'], { SVC_URL: url, SVC_TOKEN: token });
    return /^sandboxes +on +(.*)$/m.exec(stdout)?.[1] ?? stdout;
  };
  const create = (body: Record<string, unknown> = {}): Promise<Sandbox> =>
    api.post<Sandbox>('/api/containers?wait_ms=30000', { image: 'busybox', ...body });
  const run = async (id: string, command: string): Promise<string> =>
    (await api.post<{ stdout: string }>(`/api/containers/${id}/exec`, { command })).stdout;
  const warm = () => waitFor(async () => (await state()).warm_pool[0]?.ready === 1, { timeoutMs: 240_000 });

  beforeAll(async () => {
    folder = await temporaryFolder();
    await start((await ensureGvisor()).program);
  });
  afterAll(async () => {
    const { url, token } = platform.ready;
    await removeSandboxes(createClient({ baseUrl: url, credential: { kind: 'token', token } }));
    await platform.stop();
    await folder.remove();
  });

  it('isolates sandboxes with gVisor, and says so', async () => {
    expect(await state()).toMatchObject({
      isolations: ['namespaces', 'gvisor'],
      isolation: 'gvisor',
      isolation_reason: null,
      shares_kernel: false,
    });
    expect(await words()).toContain('isolated by gVisor');
    const own = await create({ name: 'own' });
    expect(own).toMatchObject({ status: 'running', isolation: 'gvisor', shares_kernel: false });
    expect(await run(own.id, 'dmesg')).toContain('Starting gVisor');
    const shared = await create({ name: 'shared', isolation: 'namespaces' });
    expect(shared).toMatchObject({ status: 'running', isolation: 'namespaces', shares_kernel: true });
    expect(await run(shared.id, 'uname -r')).not.toBe('4.4.0\n');
  });

  it('keeps gVisor sandboxes warm for creates without a hostname or limits', async () => {
    await warm();
    const { hits } = (await state()).warm_pool[0] ?? { hits: -1 };
    const pooled = await create();
    expect(pooled).toMatchObject({ status: 'running', isolation: 'gvisor' });
    expect(await run(pooled.id, 'dmesg')).toContain('Starting gVisor');
    expect((await state()).warm_pool).toMatchObject([{ hits: hits + 1 }]);
    await warm();
    await create({ name: 'named' });
    await create({ resources: { memory_mb: 256 } });
    expect((await state()).warm_pool).toMatchObject([{ hits: hits + 1, ready: 1 }]);
  });

  it('falls back to the shared kernel after a failed trial, says why, and keeps running gVisor sandboxes', async () => {
    const { id } = await create({ name: 'stays' });
    await run(id, 'echo kept > /root/file');
    await platform.stop();
    const { program } = await ensureGvisor();
    const failing = join(folder.path, 'runsc');
    const script = `#!/bin/sh\nfor word; do [ "$word" != do ] || { echo "no room here" >&2; exit 1; }; done\nexec ${program} "$@"\n`;
    await writeFile(failing, script);
    await chmod(failing, 0o755);
    await start(failing);
    expect(platform.log()).toContain('no room here');
    const reason = expect.stringContaining('fails its trial run');
    expect(await state()).toMatchObject({
      isolations: ['namespaces'],
      isolation: 'namespaces',
      isolation_reason: reason,
      shares_kernel: true,
    });
    expect(await words()).toMatch(/sharing the host's kernel: runsc fails its trial run/);
    expect(await create({ name: 'after' })).toMatchObject({ isolation: 'namespaces', shares_kernel: true });
    await expect(create({ isolation: 'gvisor' })).rejects.toThrow('UNSUPPORTED_ISOLATION');
    expect(await api.get<Sandbox>(`/api/containers/${id}`)).toMatchObject({ status: 'running', isolation: 'gvisor' });
    expect(await run(id, 'cat /root/file; dmesg')).toMatch(/^kept\n[^]*Starting gVisor/);
  });
});
