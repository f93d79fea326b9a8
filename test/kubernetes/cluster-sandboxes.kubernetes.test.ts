import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { skippedTitle, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { apiClient, type ApiClient } from '../system/api-client.ts';
import { startAgent, type RunningAgent } from '../system/cluster-walk.ts';
import { startPlatform, type RunningPlatform } from '../system/running-platform.ts';
import { TEST_IMAGE } from './agent-fixture.ts';
import { helmRequirement, type Kubernetes, kubernetesRequirement, startKubernetes } from './index.ts';
import { createSandboxNamespace, sandboxAgentEnvironment, type SandboxNamespace } from './sandbox-namespace.ts';

const reason = (await kubernetesRequirement()) ?? (await helmRequirement());
const title = 'sandboxes in a cluster that only dials out';

interface Sandbox {
  readonly id: string;
  readonly status: string;
  readonly cluster: string | null;
  readonly driver: string;
  readonly snapshot_id: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

interface Snapshot {
  readonly id: string;
  readonly size_bytes: number;
}

interface Clusters {
  readonly clusters: readonly { readonly name: string; readonly connected: boolean }[];
}

/** Allows for a busy machine. */
const BUSY_MS = 120_000;

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let kubernetes: Kubernetes;
  let namespace: SandboxNamespace;
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  let api: ApiClient;
  let clusterId: string;
  let token: string;
  let agent: RunningAgent | undefined;

  async function start(): Promise<void> {
    const config = {
      services: ['clusters', 'sandboxes'],
      sandboxes: {
        driver: 'kubernetes', // of no cluster: sandboxes of connected clusters need no driver of the platform
        images: [{ name: 'tiny', sources: [{ kind: 'registry', reference: TEST_IMAGE }] }],
      },
    };
    const file = join(folder.path, 'config.json');
    await writeFile(file, JSON.stringify(config));
    platform = await startPlatform({ dataFolder: join(folder.path, 'data'), flags: ['--config', file] });
    api = apiClient(platform.ready);
  }

  function connect(environment: Record<string, string> = {}): void {
    agent = startAgent({
      url: platform.ready.url,
      token,
      clusterName: 'home',
      clusterId,
      kubeconfig: namespace.kubeconfig,
      stateFolder: join(folder.path, 'agent'),
      environment: { ...sandboxAgentEnvironment(namespace), ...environment },
    });
  }

  const available = (): Promise<unknown> =>
    waitFor(
      async () => (await api.get<Clusters>('/api/sandbox-clusters')).clusters.some(({ connected }) => connected),
      { timeoutMs: BUSY_MS, description: () => `the cluster to run sandboxes\n${agent?.log() ?? ''}` },
    );

  beforeAll(async () => {
    kubernetes = await startKubernetes();
    namespace = await createSandboxNamespace(kubernetes, 'svc-unused', 'svc-agent');
    folder = await temporaryFolder();
    await start();
    const created = await api.post<{ id: string; token: string }>('/v1/clusters', { name: 'home' });
    clusterId = created.id;
    token = created.token;
  });
  afterAll(async () => {
    await agent?.stop();
    await platform?.stop();
    await namespace?.[Symbol.asyncDispose]();
    await kubernetes?.stop();
    await folder?.remove();
  });

  /** Files of the storage for archives, finished or not. */
  const archives = async (): Promise<readonly string[]> => {
    const found = await readdir(join(folder.path, 'data/sandboxes/archives'), { recursive: true, withFileTypes: true });
    return found.filter((each) => each.isFile()).map(({ name }) => name);
  };
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
  const run = async (id: string, command: string): Promise<string> =>
    (await api.post<{ stdout: string }>(`/api/containers/${id}/exec`, { command })).stdout;
  /** Resolves once the pod of a deleted sandbox has ended; its deletion is answered before. */
  const vanish = (id: string): Promise<unknown> =>
    waitFor(
      async () => {
        const query = ['get', 'pods', '-l', `svc.dev/sandbox=${id}`, '-o', 'name'];
        return (await kubernetes.kubectl('-n', namespace.name, ...query)).trim() === '';
      },
      { timeoutMs: BUSY_MS, intervalMs: 100, description: 'no pod' },
    );

  /** What a terminal shows after it was sent a line. */
  async function typed(id: string, line: string, wanted: string): Promise<string> {
    const url = new URL(`/ws/terminal/${id}?cols=80&rows=24`, platform.ready.url.replace(/^http/, 'ws'));
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${platform.ready.token}` } });
    let shown = '';
    socket.on('message', (data: Buffer) => void (shown += data.toString('utf8')));
    socket.once('open', () => socket.send(line));
    await waitFor(() => shown.includes(wanted), { timeoutMs: BUSY_MS, description: `the terminal to show ${wanted}` });
    socket.close();
    return shown;
  }

  it('refuses a cluster whose agent has never connected, and one that does not exist', async () => {
    const wanted = { image: 'tiny', network: 'none' };
    await expect(api.post('/api/containers', { ...wanted, cluster: 'home' })).rejects.toThrow(
      /503.*The cluster home cannot be reached/,
    );
    await expect(api.post('/api/containers', { ...wanted, cluster: 'none' })).rejects.toThrow(/400.*UNKNOWN_CLUSTER/);
    await expect(api.post('/api/containers', wanted)).rejects.toThrow('SANDBOXES_UNAVAILABLE');
  });

  it('refuses a cluster whose agent does not allow sandboxes, in the words of the agent', async () => {
    connect({ SANDBOXES_ENABLED: 'false' });
    const wanted = { image: 'tiny', network: 'none', cluster: 'home' };
    await waitFor(
      () =>
        api.post('/api/containers', wanted).then(
          () => false,
          (error: Error) => /409.*does not enable sandboxes \(sandboxes.enabled\)/.test(error.message),
        ),
      { timeoutMs: BUSY_MS, intervalMs: 200, description: 'the refusal of the agent' },
    );
    expect((await api.get<Clusters>('/api/sandbox-clusters')).clusters).toEqual([]);
    await agent?.stop();
  });

  it('runs commands, serves files and terminals, and keeps files across stops', async () => {
    connect();
    await available();
    const id = await create();
    expect(await read(id)).toMatchObject({ cluster: 'home', driver: `cluster:${clusterId}`, status: 'running' });
    await run(id, 'echo kept > /root/file');
    await api.post(`/api/containers/${id}/files`, {
      path: '/root/written',
      content: 'by file',
      encoding: 'utf-8',
    });
    expect(await run(id, 'cat /root/written')).toBe('by file');
    expect(JSON.stringify(await api.get(`/api/containers/${id}/files/list?path=/root`))).toContain('"written"');
    expect(await typed(id, 'echo $((40 + 2)) answers\n', '42 answers')).toContain('42 answers');
    await api.post(`/api/containers/${id}/stop`);
    await become(id, 'stopped');
    await api.post(`/api/containers/${id}/start`);
    await become(id, 'running');
    expect(await run(id, 'cat /root/file')).toBe('kept\n');
    await api.delete(`/api/containers/${id}`);
    await vanish(id);
  });

  it('refuses by name what pods lack', async () => {
    const wanted = { image: 'tiny', cluster: 'home' };
    const refused = (fields: object): Promise<unknown> => api.post('/api/containers', { ...wanted, ...fields });
    await expect(refused({ egress_allow: ['example.com'] })).rejects.toThrow('UNSUPPORTED_EGRESS');
    await expect(refused({ on_drain: 'snapshot' })).rejects.toThrow(/400.*on_drain/);
    await expect(refused({ isolation: 'gvisor' })).rejects.toThrow('no RuntimeClass for gVisor');
  });

  it('keeps snapshots as archives, and makes sandboxes and forks from them', async () => {
    const source = await create();
    await run(source, 'echo one > /root/file; chown 7:8 /root/file; ln -s file /root/link; rm -rf /home');
    const snapshot = await api.post<Snapshot>(`/api/containers/${source}/snapshots`, { name: 'first' });
    expect(snapshot).toMatchObject({ name: 'first', sandbox_id: source, archived_at: expect.any(String) });
    expect(snapshot.size_bytes).toBeGreaterThan(0);
    expect(await archives()).toHaveLength(1);
    await run(source, 'echo two > /root/file');
    const forked = await api.post<{ containers: readonly Sandbox[] }>(`/api/containers/${source}/fork`);
    const fork = forked.containers[0]?.id ?? '';
    await become(fork, 'running');
    expect(await read(fork)).toMatchObject({ cluster: 'home' });
    expect(await run(fork, 'cat /root/file')).toBe('two\n');
    await api.delete(`/api/containers/${source}`);
    await vanish(source);
    const made = await create({ image: undefined, snapshot_id: snapshot.id });
    expect(await run(made, 'cat /root/link; stat -c %u:%g /root/file; test -e /home || echo gone')).toBe(
      'one\n7:8\ngone\n',
    );
    await api.delete(`/api/snapshots/${snapshot.id}`);
    await waitFor(async () => (await archives()).length === 0, { timeoutMs: BUSY_MS, description: 'no archive' });
    for (const id of [fork, made]) await api.delete(`/api/containers/${id}`);
    for (const id of [fork, made]) await vanish(id);
  });

  it('shows no half of a snapshot after it was killed in between, and continues the sandbox', async () => {
    const id = await create();
    await run(id, 'head -c 300000000 /dev/urandom > /root/large; cksum < /root/large > /root/sum');
    const taking = api.post(`/api/containers/${id}/snapshots`).then(
      () => 'made',
      () => 'cut off',
    );
    await waitFor(async () => (await archives()).length > 0, { intervalMs: 20, description: 'the first bytes' });
    await platform.kill();
    expect(await taking).toBe('cut off');
    await agent?.stop();
    await start();
    connect();
    const lists = async (): Promise<number> => (await api.get<{ count: number }>('/api/snapshots')).count;
    expect(await lists()).toBe(0);
    await waitFor(
      () =>
        run(id, 'cksum < /root/large | cmp - /root/sum && echo same').then(
          (out) => out === 'same\n',
          () => false,
        ),
      { timeoutMs: BUSY_MS, intervalMs: 200, description: 'the sandbox to run on' },
    );
    await waitFor(async () => (await archives()).length === 0, { timeoutMs: BUSY_MS, description: 'nothing left' });
    expect(await lists()).toBe(0);
    await run(id, 'rm /root/large');
    const snapshot = await api.post<Snapshot>(`/api/containers/${id}/snapshots`);
    await api.delete(`/api/snapshots/${snapshot.id}`);
    await api.delete(`/api/containers/${id}`);
    await vanish(id);
  });

  it('gives a sandbox a new pod from its snapshot when the cluster has lost the pod', async () => {
    const id = await create({ on_node_lost: 'restore' });
    await run(id, 'echo kept > /root/file');
    const snapshot = await api.post<Snapshot>(`/api/containers/${id}/snapshots`);
    await kubernetes.kubectl('-n', namespace.name, 'delete', 'pod', '-l', `svc.dev/sandbox=${id}`, '--grace-period=0');
    await waitFor(async () => (await read(id)).snapshot_id === snapshot.id, {
      timeoutMs: BUSY_MS,
      intervalMs: 200,
      description: 'the restore',
    });
    await become(id, 'running');
    expect(await run(id, 'cat /root/file')).toBe('kept\n');
    await api.delete(`/api/containers/${id}`);
    await api.delete(`/api/snapshots/${snapshot.id}`);
    await vanish(id);
  });

  it('says that the cluster is away, and continues the same processes when its agent returns', async () => {
    const id = await create();
    await run(id, '(trap "" HUP TERM; exec sleep 1000) >/dev/null 2>&1 & echo $! > /root/pid');
    await agent?.stop();
    await waitFor(
      () =>
        run(id, 'true').then(
          () => false,
          (error: Error) => /503.*CLUSTER_OFFLINE.*home/.test(error.message),
        ),
      { timeoutMs: BUSY_MS, intervalMs: 200, description: 'the refusal' },
    );
    await waitFor(async () => (await read(id)).error?.code === 'CLUSTER_OFFLINE', { timeoutMs: BUSY_MS });
    await expect(run(id, 'true')).rejects.toThrow(/503.*CLUSTER_OFFLINE/);
    connect();
    await waitFor(async () => (await read(id)).status === 'running', { timeoutMs: BUSY_MS, description: 'its return' });
    expect(await run(id, 'tr "\\0" " " < /proc/$(cat /root/pid)/cmdline')).toBe('sleep 1000 ');
    await api.delete(`/api/containers/${id}`);
    await vanish(id);
  });

  it('adopts its sandboxes after its own restart', async () => {
    const id = await create();
    await run(id, 'echo kept > /root/file');
    await platform.kill();
    await agent?.stop();
    await start();
    connect();
    await waitFor(
      () =>
        run(id, 'cat /root/file').then(
          (out) => out === 'kept\n',
          () => false,
        ),
      {
        timeoutMs: BUSY_MS,
        intervalMs: 200,
        description: 'the sandbox to answer',
      },
    );
    await api.delete(`/api/containers/${id}`);
    await vanish(id);
  });

  it('marks the sandboxes of a removed cluster as lost, and deletes them without it', async () => {
    const id = await create();
    await api.delete(`/v1/clusters/${clusterId}`);
    await waitFor(async () => (await read(id)).error?.code === 'CLUSTER_REMOVED', { timeoutMs: BUSY_MS });
    expect((await read(id)).error?.message).toContain('home');
    await api.delete(`/api/containers/${id}`);
    await expect(read(id)).rejects.toThrow('404');
    expect((await api.get<Clusters>('/api/sandbox-clusters')).clusters).toEqual([]);
  });
});
