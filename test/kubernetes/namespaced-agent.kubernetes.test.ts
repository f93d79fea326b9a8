import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { startTestAgent, TestPlatform, type TestAgent } from '@svc/agent/testing';
import type { EventReport, Limitation } from '@svc/protocol';
import { skippedTitle, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deployment, TEST_IMAGE } from './agent-fixture.ts';
import { kubernetesRequirement, startKubernetes, type Kubernetes } from './index.ts';
import { makeServiceAccount } from './service-account.ts';

const reason = await kubernetesRequirement(true);
/** Allows for a busy machine. */
const BUSY_MS = 120_000;
const title = 'an agent limited to some namespaces';
const MANAGED = { 'svc.dev/project': 'shop' };

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  const run = randomUUID().slice(0, 8);
  const [first, second, closed, foreign] = ['a', 'b', 'closed', 'foreign'].map((name) => `rights-${name}-${run}`) as [
    string,
    string,
    string,
    string,
  ];
  let kubernetes: Kubernetes;
  let folder: TemporaryFolder;
  let platform: TestPlatform;
  let agent: TestAgent;

  beforeAll(async () => {
    kubernetes = await startKubernetes({ apiOnly: true });
    folder = await temporaryFolder();
    const { kubectl } = kubernetes;
    for (const namespace of [first, second, closed, foreign]) {
      await kubectl('create', 'namespace', namespace);
      await kubectl('-n', namespace, 'create', 'serviceaccount', 'pods'); // no controller creates a default one
    }
    const kubeconfig = join(folder.path, 'limited.json');
    await makeServiceAccount({ kubectl, namespace: first, name: 'limited', file: kubeconfig });
    for (const namespace of [first, second]) await permit(namespace);
    platform = await TestPlatform.start();
    agent = await start(kubeconfig);
  });
  afterAll(async () => {
    await agent?.stop();
    await platform?.close();
    for (const namespace of [first, second, closed, foreign]) {
      await kubernetes?.kubectl('delete', 'namespace', namespace, '--wait=false');
    }
    await kubernetes?.stop();
    await folder?.remove();
  });

  async function permit(namespace: string): Promise<void> {
    const resources = '--resource=pods,services,events,deployments.apps,statefulsets.apps';
    const { kubectl } = kubernetes;
    await kubectl('-n', namespace, 'create', 'role', 'limited', '--verb=get,list,watch', resources);
    const account = `--serviceaccount=${first}:limited`;
    await kubectl('-n', namespace, 'create', 'rolebinding', 'limited', '--role=limited', account);
  }

  function start(kubeconfig = join(folder.path, 'limited.json')): Promise<TestAgent> {
    return startTestAgent({
      platformUrl: platform.url,
      stateDir: join(folder.path, 'state'),
      environment: { KUBECONFIG: kubeconfig, SVC_KUBERNETES_NAMESPACES: `${first},${second},${closed}` },
    });
  }

  async function create(namespace: string, object: object): Promise<void> {
    await kubernetes.kubectl.withInput(JSON.stringify(object), '-n', namespace, 'create', '-f', '-');
  }

  function managed(name: string): object {
    const { metadata, ...rest } = deployment(name, { replicas: 1 }) as { metadata: object };
    return { ...rest, metadata: { ...metadata, labels: MANAGED } };
  }

  function pod(name: string): object {
    const account = { serviceAccountName: 'pods', automountServiceAccountToken: false };
    const spec = { ...account, containers: [{ name: 'main', image: TEST_IMAGE }] };
    return { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: MANAGED }, spec };
  }

  function events(type: string, resource: string): EventReport[] {
    return platform.messages('event').filter((event) => event.event_type === type && event.resource === resource);
  }

  function event(type: string, resource: string, namespace: string): Promise<EventReport> {
    const description = `${type} of ${resource} in ${namespace}`;
    return waitFor(() => events(type, resource).find((each) => each.namespace === namespace), {
      timeoutMs: BUSY_MS,
      description,
    });
  }

  async function limitations(): Promise<Record<string, string>> {
    const { limitations: told = [] } = (await (await agent.get('/info')).json()) as { limitations?: Limitation[] };
    return Object.fromEntries(told.map(({ feature, reason: why }) => [feature, why]));
  }

  const watched = (): Promise<true> =>
    waitFor(() => agent.logLines.filter((line) => line.includes('watching a kind')).length === 8 || undefined, {
      timeoutMs: BUSY_MS,
      description: 'four kinds in two namespaces to be watched',
    });

  it('reports events of its namespaces and of no others', async () => {
    await watched();
    await create(foreign, managed('web'));
    await create(foreign, pod('web-1'));
    for (const namespace of [first, second]) {
      await create(namespace, managed('web'));
      await create(namespace, pod('web-1'));
      await event('pod_created', 'pod/web-1', namespace);
      await kubernetes.kubectl('-n', namespace, 'scale', 'deployment/web', '--replicas=3');
      expect(await event('scaled', 'deployment/web', namespace)).toMatchObject({ details: { from: '1', to: '3' } });
      await kubernetes.kubectl('-n', namespace, 'delete', 'pod', 'web-1', '--grace-period=0', '--force');
      await event('pod_deleted', 'pod/web-1', namespace);
    }
    const warning = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'web-warning' },
      involvedObject: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: second, name: 'web' },
      reason: 'ByTest',
      message: 'said so',
      type: 'Warning',
    };
    await create(second, warning);
    expect(await event('warning_event', 'deployment/web', second)).toMatchObject({ details: { reason: 'ByTest' } });
    const places = new Set(platform.messages('event').map(({ namespace }) => namespace));
    expect(places.has(foreign)).toBe(false);
  });

  it('lists its missing rights on /info, in the API server’s words', async () => {
    await expect
      .poll(async () => Object.keys(await limitations()).toSorted(), { timeout: BUSY_MS })
      .toEqual([
        `events of Deployment objects in ${closed}`,
        `events of Event objects in ${closed}`,
        `events of Pod objects in ${closed}`,
        `events of StatefulSet objects in ${closed}`,
        'events of nodes',
        'numbers of nodes',
        'numbers of pods',
        'numbers of services',
      ]);
    const told = await limitations();
    expect(told['events of nodes']).toContain('kubernetes.namespaces');
    expect(told['numbers of nodes']).toMatch(/nodes is forbidden/);
    expect(told[`events of Pod objects in ${closed}`]).toContain(`in the namespace "${closed}"`);
  });

  it('counts resources once permitted, and reports in its status what is still missing', async () => {
    await permit(closed);
    await create(closed, pod('counted'));
    const latest = async () => {
      const before = platform.messages('cluster_status').length;
      platform.connection.socket.terminate(); // the first report of a connection includes its status
      await waitFor(() => platform.messages('cluster_status').length > before || undefined, { timeoutMs: BUSY_MS });
      const status = platform.messages('cluster_status').at(-1);
      return {
        pods: status?.pods,
        health: status?.health,
        features: (status?.limitations ?? []).map(({ feature }) => feature),
      };
    };
    // Watches of a refused kind are retried within two minutes; numbers are read each time.
    await expect.poll(async () => (await latest()).pods, { timeout: BUSY_MS, interval: 1000 }).toBeGreaterThan(0);
    const { features, health } = await latest();
    expect(health).toBe('healthy');
    expect(features).toEqual(expect.arrayContaining(['events of nodes', 'numbers of nodes']));
    expect(features).not.toContain('numbers of pods');
    expect(features).toContain('usage of pods'); // this cluster has no metrics server
    expect(platform.messages('heartbeat').at(-1)).toMatchObject({ status: 'degraded', metrics: { cpu_usage: 0 } });
  });

  it('reports changes made during a restart, and nothing twice', async () => {
    await agent.stop();
    const before = events('scaled', 'deployment/web').length;
    await kubernetes.kubectl('-n', second, 'scale', 'deployment/web', '--replicas=5');
    agent = await start();
    await waitFor(() => events('scaled', 'deployment/web').length > before || undefined, { timeoutMs: BUSY_MS });
    await create(first, pod('probe'));
    await event('pod_created', 'pod/probe', first);
    expect(events('scaled', 'deployment/web')).toHaveLength(before + 1);
    expect(events('pod_created', 'pod/web-1')).toHaveLength(2);
  });
});
