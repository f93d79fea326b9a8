import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { skippedTitle, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient, type ApiClient } from '../system/api-client.ts';
import { startPlatform, type RunningPlatform } from '../system/running-platform.ts';
import { TEST_IMAGE } from './agent-fixture.ts';
import { helmRequirement, type Kubernetes, kubernetesRequirement, startKubernetes } from './index.ts';
import { createSandboxNamespace, HELPER_IMAGE, type SandboxNamespace } from './sandbox-namespace.ts';

const reason = (await kubernetesRequirement()) ?? (await helmRequirement());
const title = 'a platform with sandboxes as pods';

interface Sandbox {
  readonly id: string;
  readonly status: string;
  readonly paused_at: string | null;
  readonly error: { readonly code: string } | null;
}

interface Figures {
  readonly current: Readonly<Record<string, number | null>>;
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let kubernetes: Kubernetes;
  let namespace: SandboxNamespace;
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  let api: ApiClient;

  async function start(): Promise<void> {
    const config = {
      services: ['sandboxes'],
      sandboxes: {
        driver: 'kubernetes',
        images: [{ name: 'tiny', sources: [{ kind: 'registry', reference: TEST_IMAGE }] }],
        kubernetes: {
          kubeconfig: namespace.kubeconfig,
          namespace: namespace.name,
          helper_image: HELPER_IMAGE,
          user_namespaces: false,
          network_policies: 'trust', // few test clusters enforce them
        },
      },
    };
    const file = join(folder.path, 'config.json');
    await writeFile(file, JSON.stringify(config));
    platform = await startPlatform({ dataFolder: join(folder.path, 'data'), flags: ['--config', file] });
    api = apiClient(platform.ready);
  }

  beforeAll(async () => {
    kubernetes = await startKubernetes();
    namespace = await createSandboxNamespace(kubernetes, 'svc-unused');
    folder = await temporaryFolder();
    await start();
  });
  afterAll(async () => {
    await platform?.stop();
    await namespace?.[Symbol.asyncDispose]();
    await kubernetes?.stop();
    await folder?.remove();
  });

  const become = (id: string, status: string): Promise<unknown> =>
    waitFor(
      async () => {
        const sandbox = await api.get<Sandbox>(`/api/containers/${id}`);
        if (sandbox.status === 'error' && status !== 'error') throw new Error(JSON.stringify(sandbox.error));
        return sandbox.status === status;
      },
      { timeoutMs: 120_000, intervalMs: 100, description: `sandbox ${id} to be ${status}` },
    );
  const create = async (): Promise<string> => {
    const { id } = await api.post<Sandbox>('/api/containers', { image: 'tiny', network: 'none' });
    await become(id, 'running');
    return id;
  };
  const run = async (id: string, command: string): Promise<string> =>
    (await api.post<{ stdout: string }>(`/api/containers/${id}/exec`, { command })).stdout;
  const pods = async (): Promise<string[]> => {
    const names = await kubernetes.kubectl('-n', namespace.name, 'get', 'pods', '-o', 'name');
    return names.split('\n').filter((name) => name !== '');
  };
  /** A deletion is answered before its pod has ended. */
  const vanish = (): Promise<unknown> =>
    waitFor(async () => (await pods()).length === 0, { timeoutMs: 60_000, intervalMs: 100, description: 'no pods' });

  it('keeps files and processes of a sandbox across stops and its own restart, and measures it', async () => {
    const id = await create();
    await run(id, 'echo kept > /root/file');
    await api.post(`/api/containers/${id}/stop`);
    await become(id, 'stopped');
    await api.post(`/api/containers/${id}/start`);
    await become(id, 'running');
    expect(await run(id, 'cat /root/file')).toBe('kept\n');
    await run(id, '(trap "" HUP TERM; exec sleep 1000) >/dev/null 2>&1 & echo $! > /root/pid');
    await platform.kill();
    await start();
    expect(await run(id, 'tr "\\0" " " < /proc/$(cat /root/pid)/cmdline')).toBe('sleep 1000 ');
    const { current } = await api.get<Figures>(`/api/containers/${id}/metrics`);
    expect(current['memory_bytes']).toBeGreaterThan(0);
    expect(current['pids']).toBeGreaterThan(1);
    expect(current['disk_bytes']).toBeNull();
    await api.delete(`/api/containers/${id}`);
    await vanish();
  });

  it('lists what the driver lacks, and refuses it by name', async () => {
    const { services } = await api.get<{ services: { sandboxes: Record<string, unknown> } }>('/api/v1/platform/status');
    expect(services.sandboxes).toMatchObject({
      driver: 'kubernetes',
      missing_capabilities: [
        'disk_limit',
        'disk_usage',
        'egress_allow',
        'egress_rules',
        'gpus',
        'mounts',
        'oom_survival',
        'process_limit',
        'templates',
        'volumes',
      ],
    });
    const id = await create();
    await expect(api.post('/api/volumes', { name: 'data' })).rejects.toThrow('VOLUMES_UNAVAILABLE');
    const limited = { image: 'tiny', network: 'egress', egress_allow: ['example.com'] };
    await expect(api.post('/api/containers', limited)).rejects.toThrow('UNSUPPORTED_EGRESS');
    await api.delete(`/api/containers/${id}`);
    await vanish();
  });

  it('pauses a sandbox, also across its own restart, and any access resumes it', async () => {
    const id = await create();
    await run(id, '(trap "" HUP TERM; exec sleep 1000) >/dev/null 2>&1 & echo $! > /root/pid');
    const paused = await api.post<Sandbox>(`/api/containers/${id}/pause`);
    expect(paused.paused_at).not.toBeNull();
    await platform.kill();
    await start();
    expect((await api.get<Sandbox>(`/api/containers/${id}`)).paused_at).toBe(paused.paused_at);
    expect(await run(id, 'cut -d" " -f3 /proc/$(cat /root/pid)/stat')).toBe('S\n');
    expect((await api.get<Sandbox>(`/api/containers/${id}`)).paused_at).toBeNull();
    await api.delete(`/api/containers/${id}`);
    await vanish();
  });

  it('creates sandboxes from snapshots, and forks, with the files of that moment', async () => {
    const id = await create();
    await run(id, 'echo one > /root/file; rm /etc/passwd; mkdir -p /srv/new; chmod 700 /srv/new');
    const { id: snapshot } = await api.post<{ id: string }>(`/api/containers/${id}/snapshots`, { name: 'first' });
    await run(id, 'echo two > /root/file');
    const look = 'cat /root/file; ls /etc/passwd 2>/dev/null; stat -c %a /srv/new';
    const made = await api.post<Sandbox>('/api/containers', { snapshot_id: snapshot, network: 'none' });
    await become(made.id, 'running');
    expect(await run(made.id, look)).toBe('one\n700\n');
    const { containers } = await api.post<{ containers: Sandbox[] }>(`/api/containers/${id}/fork`, { count: 1 });
    for (const fork of containers) {
      await become(fork.id, 'running');
      expect(await run(fork.id, look)).toBe('two\n700\n');
    }
    await api.delete(`/api/snapshots/${snapshot}`);
    await api.post(`/api/containers/${made.id}/stop`);
    await become(made.id, 'stopped');
    await api.post(`/api/containers/${made.id}/start`);
    await become(made.id, 'running');
    expect(await run(made.id, look)).toBe('one\n700\n');
    for (const each of [id, made.id, ...containers.map((fork) => fork.id)]) await api.delete(`/api/containers/${each}`);
    await vanish();
  });

  it('reports the loss of a pod, and never starts the sandbox empty', async () => {
    const id = await create();
    for (const pod of await pods()) await kubernetes.kubectl('-n', namespace.name, 'delete', pod, '--wait=true');
    await become(id, 'error');
    await api.post(`/api/containers/${id}/start`);
    await waitFor(async () => (await api.get<Sandbox>(`/api/containers/${id}`)).error?.code === 'ROOTFS_FAILED');
    expect(await pods()).toEqual([]);
    await api.delete(`/api/containers/${id}`);
  });
});
