import { fieldAt } from '@svc/kube';
import type { CommandResult, EventReport } from '@svc/protocol';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentFixture, configMap, TEST_IMAGE } from './agent-fixture.ts';
import { kubernetesRequirement } from './index.ts';

const reason = await kubernetesRequirement();
const title = 'auto-scaled workloads of a real cluster';

interface Shape {
  replicas?: number;
  annotations?: Record<string, string>;
  command?: string[];
  cpu?: string | null;
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let fixture: AgentFixture;
  beforeAll(async () => {
    fixture = await AgentFixture.start({}, undefined, { metrics: true });
  });
  afterAll(() => fixture?.stop());

  function workload(name: string, { replicas, annotations = {}, command, cpu = '50m' }: Shape): object {
    const labels = { app: name };
    const container = {
      name: 'main',
      image: TEST_IMAGE,
      command: command ?? ['sleep', '3600'],
      ...(cpu === null ? {} : { resources: { requests: { cpu } } }),
    };
    return {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, annotations },
      spec: {
        ...(replicas === undefined ? {} : { replicas }),
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers: [container] } },
      },
    };
  }

  function scaled(minimum: number, maximum: number): Record<string, string> {
    return {
      'svc.dev/auto-scale': 'true',
      'svc.dev/min-replicas': String(minimum),
      'svc.dev/max-replicas': String(maximum),
    };
  }

  function deploy(name: string, shape: Shape, options: object = {}): Promise<CommandResult> {
    return fixture.deploy(workload(name, shape), { project_id: name, ...options });
  }

  async function replicasOf(name: string): Promise<number> {
    return Number(fieldAt(await fixture.json('deployment', name), 'spec', 'replicas'));
  }

  function events(type: string, name: string): EventReport[] {
    return fixture.platform
      .messages('event')
      .filter(({ event_type, resource }) => event_type === type && resource === `deployment/${name}`);
  }

  it('are reported as a feature of the agent', async () => {
    await waitFor(async () => {
      const info = (await (await fixture.test.get('/info')).json()) as { features: Record<string, boolean> };
      return info.features['auto_scaling'] === true;
    });
  });

  it('get their own autoscaler, which scales them with their load', async () => {
    const busy = ['sh', '-c', 'while :; do :; done'];
    const result = await deploy('busy', { replicas: 1, annotations: scaled(1, 3), command: busy });
    expect(result).toMatchObject({ status: 'succeeded', deploy: { warnings: [], summary: { created: 2 } } });
    const autoscaler = await fixture.json('hpa', 'busy');
    const owner = await fixture.json('deployment', 'busy');
    expect(autoscaler).toMatchObject({
      spec: { minReplicas: 1, maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'busy' } },
    });
    expect(fieldAt(autoscaler, 'spec', 'metrics', 0, 'resource', 'target', 'averageUtilization')).toBe(80);
    expect(fieldAt(autoscaler, 'metadata', 'ownerReferences', 0, 'uid')).toBe(fieldAt(owner, 'metadata', 'uid'));
    await waitFor(() => events('autoscale_applied', 'busy')[0]);
    await waitFor(async () => (await replicasOf('busy')) === 3, { timeoutMs: 180_000, intervalMs: 1000 });
    await waitFor(() => events('scaled', 'busy')[0]);
    const again = await deploy('busy', { replicas: 1, annotations: scaled(1, 3), command: busy }, { wait: false });
    expect(again).toMatchObject({ status: 'succeeded', deploy: { summary: { unchanged: 2, configured: 0 } } });
    expect(await replicasOf('busy')).toBe(3);
  });

  it('keep their replicas when the annotation is added, and take the manifest’s when it is removed', async () => {
    await deploy('turns', { replicas: 2 });
    await deploy('turns', { replicas: 2, annotations: scaled(2, 4) });
    expect(await replicasOf('turns')).toBe(2);
    await waitFor(async () => fieldAt(await fixture.json('hpa', 'turns'), 'status', 'desiredReplicas') !== undefined);
    await fixture.inNamespace('patch', 'hpa', 'turns', '--type=merge', '-p', '{"spec":{"minReplicas":3}}');
    await waitFor(async () => (await replicasOf('turns')) === 3, { timeoutMs: 60_000, intervalMs: 500 });
    const result = await deploy('turns', { replicas: 1 }, { prune: false });
    expect(result).toMatchObject({ status: 'succeeded', deploy: { summary: { pruned: 1, configured: 1 } } });
    expect(await replicasOf('turns')).toBe(1);
    expect(await fixture.inNamespace('get', 'hpa', 'turns', '--ignore-not-found')).toBe('');
  });

  it('are rejected with the name of the invalid annotation, before anything is created', async () => {
    const annotations = { ...scaled(5, 2) };
    expect(await deploy('wrong', { annotations })).toMatchObject({
      status: 'failed',
      error: {
        code: 'INVALID_REQUEST',
        details: { field: expect.stringContaining('svc.dev/max-replicas') as string },
      },
    });
    expect(await fixture.inNamespace('get', 'deployment', 'wrong', '--ignore-not-found')).toBe('');
  });

  it('are skipped, with a warning and an event, without CPU requests or under another autoscaler', async () => {
    const lazy = await deploy('lazy', { replicas: 2, annotations: scaled(1, 3), cpu: null });
    expect(lazy).toMatchObject({
      status: 'succeeded',
      deploy: { warnings: ['deployment/lazy is not auto-scaled: no cpu is requested by main'] },
    });
    expect(await replicasOf('lazy')).toBe(2);
    expect(await waitFor(() => events('autoscale_skipped', 'lazy')[0])).toMatchObject({
      details: { reason: 'no cpu is requested by main' },
    });
    await deploy('taken', { replicas: 2 });
    await fixture.inNamespace('autoscale', 'deployment/taken', '--min=2', '--max=5', '--name=theirs');
    const taken = await deploy('taken', { replicas: 2, annotations: scaled(1, 3) });
    expect(taken.deploy?.warnings[0]).toContain('HorizontalPodAutoscaler theirs scales it already');
    expect(await fixture.inNamespace('get', 'hpa', '-o', 'name')).not.toContain('/taken');
  });

  it('are recreated with their autoscaler when drift is corrected', async () => {
    const other = await fixture.beside({ SVC_DEPLOY_DRIFT: 'correct' });
    try {
      const shape = { annotations: scaled(1, 3) };
      expect(await other.deploy(workload('back', shape), { project_id: 'back' })).toMatchObject({
        status: 'succeeded',
      });
      const before = String(fieldAt(await other.json('deployment', 'back'), 'metadata', 'uid'));
      await other.inNamespace('delete', 'deployment', 'back', '--wait=false'); // also deletes its autoscaler
      await waitFor(
        async () => {
          const names = ['deployment', 'hpa'].map((kind) => other.json(kind, 'back').catch(() => undefined));
          const [again, autoscaler] = await Promise.all(names);
          const uid = fieldAt(again, 'metadata', 'uid');
          return (
            uid !== undefined && uid !== before && fieldAt(autoscaler, 'metadata', 'ownerReferences', 0, 'uid') === uid
          );
        },
        { timeoutMs: 180_000, description: 'both, the one owned by the other' },
      );
      // An object removed by a deploy is not restored, even if the deploy prunes nothing.
      const options = { project_id: 'back', prune: false };
      expect(await other.deploy(workload('back', {}), options)).toMatchObject({ deploy: { summary: { pruned: 1 } } });
      await other.deploy(configMap('probe'), { ...options, project_id: 'probe' });
      await other.inNamespace('delete', 'configmap', 'probe');
      const corrected = other.platform.waitForMessage(
        'event',
        ({ event_type: type, resource }) => type === 'drift_corrected' && resource === 'configmap/probe',
        180_000,
      );
      await corrected; // all earlier corrections are done by then
      expect(await other.inNamespace('get', 'hpa', '-o', 'name')).toBe('');
    } finally {
      await other.stop();
    }
  });

  it('lose their autoscaler when it can no longer work, even without pruning', async () => {
    await deploy('losing', { annotations: scaled(2, 3) });
    await waitFor(async () => (await replicasOf('losing')) === 2, { timeoutMs: 120_000, description: 'two replicas' });
    const without = { replicas: 1, annotations: scaled(2, 3), cpu: null };
    expect(await deploy('losing', without, { prune: false })).toMatchObject({
      status: 'succeeded',
      deploy: { warnings: ['deployment/losing is not auto-scaled: no cpu is requested by main'] },
    });
    expect(await fixture.inNamespace('get', 'hpa', '-o', 'name')).not.toContain('/losing');
  });

  it('are skipped without metrics, but keep an existing autoscaler', async () => {
    await fixture.kubectl(
      'patch',
      'apiservice',
      'v1beta1.metrics.k8s.io',
      '--type=merge',
      '-p',
      '{"spec":{"service":{"name":"nobody"}}}',
    );
    try {
      await waitFor(
        async () => {
          await fixture.kubectl('get', '--raw', '/apis/metrics.k8s.io/v1beta1').then(
            () => Promise.reject(new Error('still served')),
            () => undefined,
          );
          return true;
        },
        { intervalMs: 500 },
      );
      const late = await deploy('late', { replicas: 1, annotations: scaled(1, 3) });
      expect(late.deploy?.warnings).toEqual([
        'deployment/late is not auto-scaled: the cluster serves no metrics (metrics.k8s.io)',
      ]);
      const busy = await deploy('busy', { annotations: scaled(1, 2) }, { wait: false });
      expect(busy).toMatchObject({ status: 'succeeded', deploy: { warnings: [] } });
      expect(fieldAt(await fixture.json('hpa', 'busy'), 'spec', 'maxReplicas')).toBe(2);
    } finally {
      await fixture.kubectl(
        'patch',
        'apiservice',
        'v1beta1.metrics.k8s.io',
        '--type=merge',
        '-p',
        '{"spec":{"service":{"name":"metrics-server"}}}',
      );
    }
  });
});
