import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { localDriverReason } from '@svc/sandboxes/testing/local-subject';
import { skippedTitle, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient, type ApiClient } from '../system/api-client.ts';
import { startAgent, type RunningAgent } from '../system/cluster-walk.ts';
import { startPlatform, type RunningPlatform } from '../system/running-platform.ts';
import { helmRequirement, type Kubernetes, kubernetesRequirement, startKubernetes } from './index.ts';
import {
  createSandboxNamespace,
  HELPER_IMAGE,
  sandboxAgentEnvironment,
  type SandboxNamespace,
} from './sandbox-namespace.ts';
import { trustRegistry } from './shared-cluster.ts';

const given = (process.env['KUBECONFIG_UNDER_TEST'] ?? '') !== '';
const reason = given
  ? 'a cluster was given from outside, whose nodes do not trust the platform'
  : ((await kubernetesRequirement()) ?? (await helmRequirement()) ?? localDriverReason());
const title = 'images that nodes pull from the platform';

interface Sandbox {
  readonly id: string;
  readonly status: string;
  readonly error: { readonly code: string; readonly message: string } | null;
}

const BUSY_MS = 180_000;

/** A platform with sandboxes of its own, which builds a template, and a connected cluster that runs it as a pod. */
describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let kubernetes: Kubernetes;
  let namespace: SandboxNamespace;
  let folder: TemporaryFolder;
  let platform: RunningPlatform | undefined;
  let agent: RunningAgent | undefined;
  let api: ApiClient;
  let cluster: string;

  async function start(name: string, sandboxes: object, host = kubernetes.hostAddress ?? '127.0.0.1'): Promise<void> {
    const file = join(folder.path, `${name}.json`);
    await writeFile(file, JSON.stringify({ services: ['clusters', 'sandboxes'], sandboxes }));
    const dataFolder = join(folder.path, name);
    platform = await startPlatform({ dataFolder, flags: ['--config', file, '--host', host] });
    api = apiClient(platform.ready);
    const { shared } = kubernetes;
    if (shared === null) throw new Error('the cluster has no node here');
    // A path without the marks of the data folder's owner, which the node's processes may not have.
    const authority = join(folder.path, `${name}.crt`);
    await cp(join(dataFolder, 'tls/ca.crt'), authority);
    await trustRegistry(shared, new URL(platform.ready.https_url).host, authority);
  }

  async function connect(): Promise<void> {
    const created = await api.post<{ id: string; token: string }>('/v1/clusters', { name: 'home' });
    cluster = created.id;
    agent = startAgent({
      url: platform?.ready.url ?? '',
      token: created.token,
      clusterName: 'home',
      clusterId: cluster,
      kubeconfig: namespace.kubeconfig,
      stateFolder: join(folder.path, 'agent'),
      environment: sandboxAgentEnvironment(namespace),
    });
    await waitFor(
      async () => {
        const { clusters } = await api.get<{ clusters: { connected: boolean }[] }>('/api/sandbox-clusters');
        return clusters.some(({ connected }) => connected);
      },
      { timeoutMs: BUSY_MS, description: () => `the cluster to run sandboxes\n${agent?.log() ?? ''}` },
    );
  }

  beforeAll(async () => {
    kubernetes = await startKubernetes();
    namespace = await createSandboxNamespace(kubernetes, 'svc-unused', 'svc-agent');
    folder = await temporaryFolder();
    await mkdir(join(folder.path, 'agent'));
  }, 20 * 60_000);
  afterAll(async () => {
    await agent?.stop();
    await platform?.stop();
    await namespace?.[Symbol.asyncDispose]();
    await kubernetes?.stop();
    await folder?.remove();
  });

  const become = async (id: string): Promise<void> => {
    await waitFor(
      async () => {
        const sandbox = await api.get<Sandbox>(`/api/containers/${id}`);
        if (sandbox.status === 'error') throw new Error(JSON.stringify(sandbox.error));
        return sandbox.status === 'running';
      },
      { timeoutMs: BUSY_MS, intervalMs: 200, description: `sandbox ${id} to run` },
    );
  };
  const create = async (fields: object): Promise<string> => {
    const { id } = await api.post<Sandbox>('/api/containers', { network: 'none', ...fields });
    await become(id);
    return id;
  };
  const run = async (id: string, command: string): Promise<string> =>
    (await api.post<{ stdout: string }>(`/api/containers/${id}/exec`, { command })).stdout;
  const imageOf = (id: string): Promise<string> => {
    const path = '-o=jsonpath={.items[0].spec.containers[0].image}';
    return kubernetes.kubectl('-n', namespace.name, 'get', 'pods', '-l', `svc.dev/sandbox=${id}`, path);
  };
  const secrets = async (): Promise<{ type: string; data: Record<string, string> }[]> => {
    const query = ['get', 'secrets', '-l', 'svc.dev/sandbox-owner', '-o', 'json'];
    return JSON.parse(await kubernetes.kubectl('-n', namespace.name, ...query)).items;
  };

  it('are those of the catalog that no registry has, and templates of the workspace', async () => {
    await start('main', { image_registry: '' });
    await connect();
    const { host } = new URL(platform?.ready.https_url ?? '');
    const id = await create({ image: 'busybox', cluster: 'home' });
    expect(await imageOf(id)).toMatch(new RegExp(`^${host}/svc-images/[0-9a-f-]+/sha256-[0-9a-f]{64}:image$`));
    expect(await run(id, 'busybox echo from busybox')).toBe('from busybox\n');

    const dockerfile = 'FROM busybox\nENV NAME=value\nWORKDIR /work\nRUN echo built > file && rm /bin/wget\n';
    const build = await api.post<{ id: string }>('/api/templates/made/builds', { dockerfile });
    await waitFor(
      async () => {
        const { status, error } = await api.get<{ status: string; error: unknown }>(
          `/api/templates/made/builds/${build.id}`,
        );
        if (status === 'error') throw new Error(JSON.stringify(error));
        return status === 'ready';
      },
      { timeoutMs: BUSY_MS, intervalMs: 200, description: 'the build' },
    );
    const made = await create({ template: 'made', cluster: 'home' });
    expect(await imageOf(made)).toContain(`${host}/svc-templates/${build.id}/`);
    const look = 'pwd; cat /work/file; echo $NAME; ls /bin/wget 2>/dev/null; ls /bin/sh';
    expect(await run(made, look)).toBe('/work\nbuilt\nvalue\n/bin/sh\n');

    const [secret, ...others] = await secrets();
    expect([secret?.type, others]).toEqual(['kubernetes.io/dockerconfigjson', []]);
    const config = Buffer.from(secret?.data['.dockerconfigjson'] ?? '', 'base64').toString();
    const { auth = '' } = (JSON.parse(config) as { auths: Record<string, { auth: string }> }).auths[host] ?? {};
    expect(Buffer.from(auth, 'base64').toString()).toMatch(new RegExp(`^${cluster}:svc_spc_`));
    expect(platform?.log()).not.toContain('svc_spc_');
    for (const each of [id, made]) await api.delete(`/api/containers/${each}`);
    await agent?.stop();
    await platform?.stop();
  }, 600_000);

  it('are refused by name where nodes cannot reach the platform', async () => {
    await start('local', { image_registry: '', driver: 'kubernetes', kubernetes: kubernetesOf() }, '127.0.0.1');
    await expect(api.post('/api/containers', { image: 'busybox', network: 'none' })).rejects.toThrow(
      /501.*REGISTRY_UNREACHABLE.*set public_url/,
    );
    const { services } = await api.get<{ services: { sandboxes: object } }>('/api/v1/platform/status');
    expect(services.sandboxes).toMatchObject({
      platform_images_reason: expect.stringContaining('set public_url') as string,
    });
    await platform?.stop();
  }, 300_000);

  it('are those of a platform whose own sandboxes are pods', async () => {
    await start('pods', { image_registry: '', driver: 'kubernetes', kubernetes: kubernetesOf() });
    const id = await create({ image: 'busybox' });
    expect(await run(id, 'busybox echo from busybox')).toBe('from busybox\n');
    await api.delete(`/api/containers/${id}`);
    await platform?.stop();
  }, 300_000);

  const kubernetesOf = (): object => ({
    kubeconfig: namespace.kubeconfig,
    namespace: namespace.name,
    helper_image: HELPER_IMAGE,
    user_namespaces: false,
    network_policies: 'trust',
  });
});
