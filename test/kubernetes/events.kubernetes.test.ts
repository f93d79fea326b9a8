import type { EventReport } from '@svc/protocol';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentFixture, TEST_IMAGE, deployment } from './agent-fixture.ts';
import { kubernetesRequirement } from './index.ts';

const reason = await kubernetesRequirement();
const title = 'events of a real cluster';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let fixture: AgentFixture;
  const ghost = `ghost-${process.pid}`;
  beforeAll(async () => {
    fixture = await AgentFixture.start();
    await waitFor(() => fixture.test.logLines.filter((line) => line.includes('watching a kind')).length === 5, {
      description: 'five kinds to be watched',
    });
  });
  afterAll(async () => {
    await fixture?.kubectl('delete', 'node', ghost, '--ignore-not-found');
    await fixture?.stop();
  });

  function events(type: string, resource: string | RegExp): EventReport[] {
    return fixture.platform
      .messages('event')
      .filter((event) => event.event_type === type && event.resource.search(resource) === 0);
  }

  /** The only event of this type about these objects. */
  async function event(type: string, resource: string | RegExp): Promise<EventReport> {
    const [first] = await waitFor(
      () => {
        const found = events(type, resource);
        return found.length > 0 ? found : null;
      },
      { timeoutMs: 90_000, description: `${type} of ${String(resource)}` },
    );
    if (first === undefined) throw new Error('no event');
    return first;
  }

  function managed(name: string, container: object, spec: object = {}): Promise<void> {
    const whole = { name: 'main', image: TEST_IMAGE, ...container };
    return fixture.pod(name, [whole], spec, { labels: { 'svc.dev/project': 'shop' } });
  }

  it('report a deployment’s pods and its availability, each once', async () => {
    await fixture.deploy(deployment('web', { replicas: 2 }), { prune: false });
    const created = await event('pod_created', /pod\/web-/);
    expect(created).toMatchObject({
      namespace: fixture.namespace,
      details: { image: TEST_IMAGE, project_id: 'shop', owner: expect.stringMatching(/^replicaset\/web-/) as string },
    });
    await waitFor(() => events('pod_ready', /pod\/web-/).length === 2);
    expect(await event('deployment_available', 'deployment/web')).toMatchObject({ details: { replicas: '2' } });
    expect(new Set(events('pod_created', /pod\/web-/).map(({ resource }) => resource)).size).toBe(2);
    expect(events('pod_created', /pod\/web-/)).toHaveLength(2);
  });

  it('report scaling, and the pods that it removes', async () => {
    await fixture.inNamespace('scale', 'deployment/web', '--replicas=1');
    expect(await event('scaled', 'deployment/web')).toMatchObject({ details: { from: '2', to: '1' } });
    await event('pod_deleted', /pod\/web-/);
    expect(events('pod_deleted', /pod\/web-/)).toHaveLength(1);
  });

  it('report an image that cannot be pulled once, although the kubelet keeps retrying', async () => {
    await managed('noimage', { image: 'localhost/nothing:1', imagePullPolicy: 'Never' });
    expect(await event('image_pull_failed', 'pod/noimage')).toMatchObject({
      details: { container: 'main', image: 'localhost/nothing:1', reason: 'ErrImageNeverPull' },
    });
    expect(await event('warning_event', 'pod/noimage')).toMatchObject({ namespace: fixture.namespace });
    expect(events('image_pull_failed', 'pod/noimage')).toHaveLength(1);
  });

  it('report a crash loop, a failed pod and an out-of-memory kill', async () => {
    await managed('crash', { command: ['sh', '-c', 'exit 7'] });
    await managed('fails', { command: ['sh', '-c', 'exit 9'] }, { restartPolicy: 'Never' });
    const limits = { memory: '24Mi' };
    await managed('hungry', { command: ['tail', '/dev/zero'], resources: { limits } }, { restartPolicy: 'Never' });
    expect(await event('pod_failed', 'pod/fails')).toMatchObject({ details: { exit_code: '9' } });
    expect(await event('pod_oom_killed', 'pod/hungry')).toMatchObject({ details: { container: 'main' } });
    expect(await event('pod_crash_loop', 'pod/crash')).toMatchObject({ details: { container: 'main' } });
    expect(await event('warning_event', 'pod/crash')).toMatchObject({ details: { reason: 'BackOff' } });
  });

  it('report nodes that join, become ready or not ready, and leave; and an evicted pod', async () => {
    const status = (ready: string) =>
      JSON.stringify({
        status: { conditions: [{ type: 'Ready', status: ready, reason: 'ByTest', message: 'said so' }] },
      });
    await fixture.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: ghost } });
    await event('node_added', `node/${ghost}`);
    await fixture.kubectl('patch', 'node', ghost, '--subresource=status', '--type=merge', '-p', status('True'));
    await event('node_ready', `node/${ghost}`);
    await fixture.kubectl('patch', 'node', ghost, '--subresource=status', '--type=merge', '-p', status('False'));
    expect(await event('node_not_ready', `node/${ghost}`)).toMatchObject({ details: { reason: 'ByTest' } });
    await managed('moved', { command: ['sleep', '1'] }, { nodeName: ghost });
    const evicted = JSON.stringify({
      status: { phase: 'Failed', reason: 'Evicted', message: 'The node was low on memory' },
    });
    await fixture.inNamespace('patch', 'pod', 'moved', '--subresource=status', '--type=merge', '-p', evicted);
    expect(await event('pod_evicted', 'pod/moved')).toMatchObject({ details: { reason: 'Evicted', node: ghost } });
    await managed('drained', { command: ['sleep', '3600'] });
    await event('pod_ready', 'pod/drained');
    const { namespace } = fixture;
    const path = `/api/v1/namespaces/${namespace}/pods/drained/eviction`;
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'drained', namespace } };
    await fixture.kubectl.withInput(JSON.stringify(eviction), 'create', '--raw', path, '-f', '-');
    expect(await event('pod_evicted', 'pod/drained')).toMatchObject({ details: { reason: 'EvictionByEvictionAPI' } });
    await fixture.kubectl('delete', 'node', ghost);
    await event('node_removed', `node/${ghost}`);
  });

  it('cover only managed workloads, unless the configuration includes all', async () => {
    const all = await fixture.beside({ SVC_EVENTS_SCOPE: 'all' });
    await waitFor(() => all.test.logLines.filter((line) => line.includes('watching a kind')).length === 5);
    await fixture.pod('stranger', [{ name: 'main', image: TEST_IMAGE, command: ['sleep', '3600'] }]);
    await all.platform.waitForMessage('event', ({ resource }) => resource === 'pod/stranger');
    await all.stop();
    expect(events('pod_created', 'pod/stranger')).toEqual([]);
  });

  it('arrive after a dropped connection, none twice, and none about earlier state', async () => {
    fixture.platform.connection.socket.terminate();
    await fixture.inNamespace('scale', 'deployment/web', '--replicas=3');
    await waitFor(() => events('scaled', 'deployment/web').length >= 2 || undefined);
    const sequences = fixture.platform.messages('event').map(({ seq }) => seq);
    expect(new Set(sequences).size).toBe(sequences.length);
    await fixture.inNamespace('rollout', 'status', 'deployment/web'); // what becomes available later is news to both
    const second = await fixture.beside();
    await waitFor(() => second.test.logLines.filter((line) => line.includes('watching a kind')).length === 5);
    await second.inNamespace('create', 'configmap', 'later');
    await second.stop();
    const old = second.platform.messages('event').filter(({ namespace }) => namespace === fixture.namespace);
    expect(old.filter(({ event_type: type }) => type === 'pod_created' || type === 'deployment_available')).toEqual([]);
  });
});
