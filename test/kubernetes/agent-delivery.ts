import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { archiveNameOf, buildImage } from '@svc/agent/build';
import { temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { apiClient, type ApiClient } from '../system/api-client.ts';
import { PROJECT_ROOT, startPlatform, type RunningPlatform } from '../system/running-platform.ts';
import { binariesFolder, ensureHelm, startKubernetes, type Kubernetes } from './index.ts';

export interface RegisteredCluster {
  id: string;
  name: string;
  token: string;
  install: { helm: string; kubectl: string; image: { command: string; available: boolean } | null };
}

export interface Outcome {
  exitCode: number;
  stdout: string;
  stderr: string;
}

const run = promisify(execFile);

/**
 * A real cluster, a platform that its pods can reach and that has the agent's image, and a user's tools: helm and
 * kubectl.
 */
export class AgentDelivery {
  readonly kubernetes: Kubernetes;
  readonly platform: RunningPlatform;
  readonly api: ApiClient;
  /** Namespace in which the platform's commands install the agent. */
  readonly namespace: string;
  readonly #folder: TemporaryFolder;
  readonly #environment: Record<string, string>;

  private constructor(
    kubernetes: Kubernetes,
    platform: RunningPlatform,
    place: { namespace: string; folder: TemporaryFolder; helmFolder: string },
  ) {
    this.kubernetes = kubernetes;
    this.platform = platform;
    this.api = apiClient(platform.ready);
    this.namespace = place.namespace;
    this.#folder = place.folder;
    this.#environment = {
      PATH: [place.helmFolder, binariesFolder(), process.env['PATH'] ?? ''].join(':'),
      HOME: place.folder.path,
      KUBECONFIG: kubernetes.kubeconfig,
      NO_PROXY: '*',
    };
  }

  static async start(): Promise<AgentDelivery> {
    const helm = await ensureHelm();
    const folder = await temporaryFolder('svc-agent-delivery-');
    const kubernetes = await startKubernetes();
    const namespace = `delivery-${randomUUID().slice(0, 8)}`;
    let platform: RunningPlatform | undefined;
    try {
      const dataFolder = join(folder.path, 'data');
      const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';
      const images = join(dataFolder, 'agent-images');
      await mkdir(images, { recursive: true });
      const output = join(images, archiveNameOf(architecture));
      await buildImage({ root: PROJECT_ROOT, architecture, output, cacheFolder: join(PROJECT_ROOT, '.cache') });
      platform = await startPlatform({
        dataFolder,
        flags: ['--host', kubernetes.hostAddress ?? '127.0.0.1'],
        environment: { SVC_SERVICES: '["clusters"]', SVC_CLUSTERS_INSTALL_NAMESPACE: namespace },
      });
      return new AgentDelivery(kubernetes, platform, { namespace, folder, helmFolder: join(helm, '..') });
    } catch (error) {
      await platform?.stop();
      await kubernetes.stop();
      await folder.remove();
      throw error;
    }
  }

  /** Registers a cluster on the platform and returns it with its install commands. */
  register(name: string): Promise<RegisteredCluster> {
    return this.api.post<RegisteredCluster>('/v1/clusters', { name });
  }

  /** Runs lines in a shell in the checkout, like a user who copied them from the console. */
  shell(lines: string): Promise<Outcome> {
    return this.#run('sh', ['-ec', lines]);
  }

  /** Runs lines in a shell on the node, as root with `ctr`. */
  onNode(lines: string): Promise<Outcome> {
    const { shared } = this.kubernetes;
    if (shared === null) throw new Error('the cluster has no node here');
    const enter = ['--target', String(shared.nodeProcess), '--net', '--mount', '--pid', '--ipc', '--uts', '--'];
    const environment = `CONTAINERD_ADDRESS=${shared.containerdSocket}`;
    return this.#run('nsenter', [...enter, 'env', environment, 'sh', '-ec', lines]);
  }

  async helm(...args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.tryHelm(...args);
    if (exitCode !== 0) throw new Error(`helm ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  tryHelm(...args: string[]): Promise<Outcome> {
    return this.#run('helm', args);
  }

  /** `kubectl -n NAMESPACE`, with its exit code. */
  tryKubectl(...args: string[]): Promise<Outcome> {
    return this.#run('kubectl', ['-n', this.namespace, ...args]);
  }

  async untilOnline({ id }: RegisteredCluster): Promise<void> {
    let status = '';
    await waitFor(
      async () => {
        ({ status } = await this.api.get<{ status: string }>(`/v1/clusters/${id}`));
        return status === 'online';
      },
      { timeoutMs: 120_000, intervalMs: 250, description: () => `the cluster to be online; it is ${status}` },
    );
    await this.untilRolledOut();
  }

  /** The limitations in the agent's `/info`, with their reasons. */
  async limitations(): Promise<Record<string, string>> {
    const script = "fetch('http://127.0.0.1:8080/info').then((answer) => answer.text()).then(console.log)";
    const place = ['exec', 'deploy/svc-agent', '--', '/usr/local/bin/node', '-e', script];
    const { stdout, stderr } = await this.tryKubectl(...place);
    if (!stdout.startsWith('{')) return { unknown: `${stdout} ${stderr}` }; // a rollout may just be ending the pod
    const { limitations = [] } = JSON.parse(stdout) as { limitations?: { feature: string; reason: string }[] };
    return Object.fromEntries(limitations.map(({ feature, reason }) => [feature, reason]));
  }

  async untilRolledOut(): Promise<void> {
    await this.kubernetes.kubectl('-n', this.namespace, 'rollout', 'status', 'deployment/svc-agent', '--timeout=180s');
  }

  async file(path: string): Promise<string> {
    return readFile(join(PROJECT_ROOT, path), 'utf8');
  }

  async stop(): Promise<void> {
    await this.tryHelm('uninstall', 'svc-agent', '--namespace', this.namespace);
    await this.kubernetes
      .kubectl('delete', 'clusterrole,clusterrolebinding', 'svc-agent', '--ignore-not-found')
      .catch(() => undefined);
    await this.kubernetes
      .kubectl('delete', 'namespace', this.namespace, '--ignore-not-found', '--wait=false')
      .catch(() => undefined);
    await this.platform.stop();
    await this.kubernetes.stop();
    await this.#folder.remove();
  }

  async #run(program: string, args: readonly string[]): Promise<Outcome> {
    const options = { cwd: PROJECT_ROOT, env: this.#environment, maxBuffer: 64 * 1024 * 1024 };
    try {
      return { exitCode: 0, ...(await run(program, [...args], options)) };
    } catch (error) {
      const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string }; // of execFile
      if (typeof code !== 'number') throw error;
      return { exitCode: code, stdout: stdout ?? '', stderr: stderr ?? '' };
    }
  }
}
