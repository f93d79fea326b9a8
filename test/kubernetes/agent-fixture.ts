import { randomUUID } from 'node:crypto';
import { startTestAgent, TestPlatform, type TestAgent } from '@svc/agent/testing';
import type { CommandResult, DeployCommand } from '@svc/protocol';
import { startKubernetes, type Kubernetes, type StartOptions } from './index.ts';

/** Image with a shell, present on every test node. */
export const TEST_IMAGE = process.env['KUBERNETES_UNDER_TEST_IMAGE'] ?? 'localhost/busybox:1';

/** A real cluster, a fake platform, and the agent between them. */
export class AgentFixture {
  readonly kubernetes: Kubernetes;
  readonly platform: TestPlatform;
  readonly namespace = `agent-${randomUUID().slice(0, 8)}`;
  test: TestAgent;
  readonly #ownsCluster: boolean;

  private constructor(kubernetes: Kubernetes, platform: TestPlatform, test: TestAgent, ownsCluster: boolean) {
    this.kubernetes = kubernetes;
    this.platform = platform;
    this.test = test;
    this.#ownsCluster = ownsCluster;
  }

  static async start(
    environment: Record<string, string> = {},
    file?: string,
    cluster: StartOptions = {},
  ): Promise<AgentFixture> {
    return AgentFixture.#inCluster(await startKubernetes(cluster), true, environment, file);
  }

  /** Another agent with its own platform and namespace in the same cluster. */
  beside(environment: Record<string, string> = {}): Promise<AgentFixture> {
    return AgentFixture.#inCluster(this.kubernetes, false, environment);
  }

  static async #inCluster(
    kubernetes: Kubernetes,
    ownsCluster: boolean,
    environment: Record<string, string>,
    file?: string,
  ): Promise<AgentFixture> {
    const platform = await TestPlatform.start();
    const test = await startTestAgent({
      platformUrl: platform.url,
      environment: { KUBECONFIG: kubernetes.kubeconfig, ...environment },
      ...(file === undefined ? {} : { file }),
    });
    const fixture = new AgentFixture(kubernetes, platform, test, ownsCluster);
    await kubernetes.kubectl('create', 'namespace', fixture.namespace);
    await platform.waitForMessage('heartbeat');
    return fixture;
  }

  get kubectl(): Kubernetes['kubectl'] {
    return this.kubernetes.kubectl;
  }

  /** `kubectl -n NAMESPACE`. */
  inNamespace(...args: string[]): Promise<string> {
    return this.kubernetes.kubectl('-n', this.namespace, ...args);
  }

  async json(...args: string[]): Promise<Record<string, unknown>> {
    return JSON.parse(await this.inNamespace('get', ...args, '-o', 'json')) as Record<string, unknown>;
  }

  /** Creates a pod outside of any deploy. */
  async pod(name: string, containers: readonly object[], spec: object = {}, metadata: object = {}): Promise<void> {
    await this.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, ...metadata },
      spec: { terminationGracePeriodSeconds: 0, containers, ...spec },
    });
  }

  /** `kubectl apply` of one object, by someone other than the agent. */
  async create(object: object): Promise<void> {
    await this.kubernetes.kubectl.withInput(JSON.stringify(object), '-n', this.namespace, 'apply', '-f', '-');
  }

  /** Sends a deploy and waits for its result. */
  async deploy(
    manifest: string | object | readonly object[],
    options: Partial<Omit<DeployCommand, 'manifest'>> = {},
    commandId?: string,
  ): Promise<CommandResult> {
    const id = this.platform.send(
      'deploy',
      { project_id: 'shop', namespace: this.namespace, timeout_seconds: 60, manifest: textOf(manifest), ...options },
      commandId ?? `cmd-${randomUUID()}`,
    );
    return this.platform.result(id, 120_000);
  }

  async stop(): Promise<void> {
    await this.test.stop();
    await this.platform.close();
    await this.kubernetes.kubectl('delete', 'namespace', this.namespace, '--wait=false').catch(() => undefined);
    if (this.#ownsCluster) await this.kubernetes.stop();
  }
}

export function textOf(manifest: string | object | readonly object[]): string {
  if (typeof manifest === 'string') return manifest;
  const documents = Array.isArray(manifest) ? manifest : [manifest];
  return documents.map((document) => JSON.stringify(document)).join('\n---\n');
}

export function configMap(name: string, data: Record<string, string> = {}, metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data };
}

export function deployment(
  name: string,
  options: { image?: string; command?: string[]; replicas?: number } = {},
): object {
  const { image = TEST_IMAGE, command = ['sleep', '3600'], replicas } = options;
  const labels = { app: name };
  const container = { name: 'main', image, command, imagePullPolicy: image === TEST_IMAGE ? 'IfNotPresent' : 'Never' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers: [container] } },
    },
  };
}

export function service(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port: 80 }] },
  };
}
