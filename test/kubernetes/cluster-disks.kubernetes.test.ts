import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { skippedTitle, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient, type ApiClient } from '../system/api-client.ts';
import { startAgent, type RunningAgent } from '../system/cluster-walk.ts';
import { startPlatform, type RunningPlatform } from '../system/running-platform.ts';
import { TEST_IMAGE } from './agent-fixture.ts';
import { startDiskProvisioner, type DiskProvisioner } from './disk-provisioner.ts';
import { helmRequirement, type Kubernetes, kubernetesRequirement, startKubernetes } from './index.ts';
import { createSandboxNamespace, sandboxAgentEnvironment, type SandboxNamespace } from './sandbox-namespace.ts';

const reason = (await kubernetesRequirement()) ?? (await helmRequirement());
const title = 'sandboxes with disks in a connected cluster';

interface Sandbox {
  readonly id: string;
  readonly status: string;
  readonly snapshot_id: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** Allows for a busy machine. */
const BUSY_MS = 120_000;

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let kubernetes: Kubernetes;
  let namespace: SandboxNamespace;
  let provisioner: DiskProvisioner;
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  let api: ApiClient;
  let cluster: { readonly id: string; readonly token: string };
  let agent: RunningAgent;

  async function start(): Promise<void> {
    const images = [{ name: 'tiny', sources: [{ kind: 'registry', reference: TEST_IMAGE }] }];
    const config = { services: ['clusters', 'sandboxes'], sandboxes: { driver: 'kubernetes', images } };
    const file = join(folder.path, 'config.json');
    await writeFile(file, JSON.stringify(config));
    platform = await startPlatform({ dataFolder: join(folder.path, 'data'), flags: ['--config', file] });
    api = apiClient(platform.ready);
  }

  function connect(): void {
    const { storageClass: SANDBOXES_STORAGE_CLASS } = provisioner;
    agent = startAgent({
      url: platform.ready.url,
      token: cluster.token,
      clusterName: 'home',
      clusterId: cluster.id,
      kubeconfig: namespace.kubeconfig, // with the rights of the chart's Role, and no others
      stateFolder: join(folder.path, 'agent'),
      environment: { ...sandboxAgentEnvironment(namespace), SANDBOXES_STORAGE_CLASS },
    });
  }

  beforeAll(async () => {
    kubernetes = await startKubernetes();
    provisioner = await startDiskProvisioner(kubernetes);
    namespace = await createSandboxNamespace(kubernetes, 'svc-unused', 'svc-agent', provisioner.storageClass);
    folder = await temporaryFolder();
    await start();
    cluster = await api.post('/v1/clusters', { name: 'home' });
    connect();
    const isConnected = async (): Promise<boolean> =>
      (await api.get<{ clusters: { connected: boolean }[] }>('/api/sandbox-clusters')).clusters.some(
        ({ connected }) => connected,
      );
    await waitFor(isConnected, { timeoutMs: BUSY_MS, description: () => `sandboxes in the cluster\n${agent.log()}` });
  });
  afterAll(async () => {
    await agent?.stop();
    await platform?.stop();
    await namespace?.[Symbol.asyncDispose]();
    await provisioner?.[Symbol.asyncDispose]();
    await kubernetes?.stop();
    await folder?.remove();
  });

  const read = (id: string): Promise<Sandbox> => api.get<Sandbox>(`/api/containers/${id}`);
  const become = (id: string, status: string): Promise<unknown> =>
    waitFor(
      async () => {
        const sandbox = await read(id);
        if (sandbox.status === 'error' && status !== 'error') throw new Error(JSON.stringify(sandbox.error));
        return sandbox.status === status;
      },
      { timeoutMs: BUSY_MS, intervalMs: 100, description: `sandbox ${id} to be ${status}` },
    );
  const create = async (fields: object = {}): Promise<string> => {
    const wanted = { image: 'tiny', network: 'none', cluster: 'home', ...fields };
    const { id } = await api.post<Sandbox>('/api/containers', wanted);
    await become(id, 'running');
    return id;
  };
  const stop = async (id: string): Promise<void> => {
    await api.post(`/api/containers/${id}/stop`);
    await become(id, 'stopped');
  };
  /** Starts it unless it runs; again if the cluster was away meanwhile. */
  const begin = (id: string): Promise<unknown> =>
    waitFor(
      async () => {
        const { status } = await read(id);
        if (status === 'stopped' || status === 'error') {
          await api.post(`/api/containers/${id}/start`).catch((error: Error) => {
            if (!error.message.includes('CLUSTER_OFFLINE')) throw error;
          });
        }
        return status === 'running' && (await run(id, 'echo up').catch(() => '')) === 'up\n';
      },
      { timeoutMs: BUSY_MS, intervalMs: 200, description: () => `sandbox ${id} to run\n${agent.log()}` },
    );
  /** The platform is killed, and its agent connects to the next one. */
  const restart = async (): Promise<void> => {
    await platform.kill();
    await agent.stop();
    await start();
    connect();
  };
  const run = async (id: string, command: string): Promise<string> =>
    (await api.post<{ stdout: string }>(`/api/containers/${id}/exec`, { command })).stdout;
  const objects = async (kind: string, id: string): Promise<string> => {
    const query = ['get', kind, '-l', `svc.dev/sandbox=${id}`, '-o', 'name'];
    return (await kubernetes.kubectl('-n', namespace.name, ...query)).trim();
  };
  const vanish = (kind: string, id: string): Promise<unknown> =>
    waitFor(async () => (await objects(kind, id)) === '', { timeoutMs: BUSY_MS, description: `no ${kind}` });

  it('keep their files while they have no pod: stopped, evicted, and across a restart of the platform', async () => {
    const id = await create({ resources: { disk_mb: 64 } });
    await run(id, 'echo kept > /root/file');
    await stop(id);
    expect(await objects('pods', id)).toBe('');
    await restart();
    expect(await read(id)).toMatchObject({ status: 'stopped' });
    await begin(id);
    expect(await run(id, 'cat /root/file')).toBe('kept\n');
    await run(id, 'echo more > /root/file; sync');
    await kubernetes.kubectl('-n', namespace.name, 'delete', 'pod', '-l', `svc.dev/sandbox=${id}`);
    await become(id, 'error');
    await begin(id);
    expect(await run(id, 'cat /root/file')).toBe('more\n');
    await api.delete(`/api/containers/${id}`);
    for (const kind of ['pods', 'pvc']) await vanish(kind, id);
  });

  it('are copied while they run or are stopped, and forked', async () => {
    const id = await create({ resources: { disk_mb: 64 } });
    await run(id, 'echo one > /root/file');
    await stop(id);
    const snapshot = await api.post<{ id: string }>(`/api/containers/${id}/snapshots`);
    expect(await objects('pods', id)).toBe('');
    await begin(id);
    await run(id, 'echo two > /root/file');
    const forked = await api.post<{ containers: readonly Sandbox[] }>(`/api/containers/${id}/fork`);
    const fork = forked.containers[0]?.id ?? '';
    await become(fork, 'running');
    expect(await run(fork, 'cat /root/file')).toBe('two\n');
    const made = await create({ image: undefined, snapshot_id: snapshot.id });
    await stop(made);
    await begin(made);
    expect(await run(made, 'cat /root/file')).toBe('one\n');
    await api.delete(`/api/snapshots/${snapshot.id}`);
    for (const each of [id, fork, made]) await api.delete(`/api/containers/${each}`);
    for (const each of [id, fork, made]) await vanish('pvc', each);
  });

  it('start again after the platform was killed while it created or started them', async () => {
    const { id } = await api.post<Sandbox>('/api/containers?wait_ms=0', {
      image: 'tiny',
      network: 'none',
      cluster: 'home',
      resources: { disk_mb: 64 },
    });
    await waitFor(async () => (await objects('pods', id)) !== '', { intervalMs: 20, description: 'its pod' });
    await restart();
    await begin(id);
    await run(id, 'echo kept > /root/file');
    await stop(id);
    const starting = api.post(`/api/containers/${id}/start`).catch(() => undefined);
    await waitFor(async () => (await objects('pods', id)) !== '', { intervalMs: 20, description: 'its pod' });
    await restart();
    await starting;
    await begin(id);
    expect(await run(id, 'cat /root/file')).toBe('kept\n');
    await api.delete(`/api/containers/${id}`);
    for (const kind of ['pods', 'pvc']) await vanish(kind, id);
  });
});
