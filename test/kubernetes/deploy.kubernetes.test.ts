import { fieldAt } from '@svc/kube';
import type { CommandResult } from '@svc/protocol';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentFixture, configMap, deployment, service, TEST_IMAGE } from './agent-fixture.ts';
import { kubernetesRequirement } from './index.ts';

const reason = await kubernetesRequirement();
const title = 'a deploy into a real cluster';

function actions(result: CommandResult): string[] {
  return (result.deploy?.resources ?? []).map(({ kind, name, action }) => `${kind}/${name} ${action}`);
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let fixture: AgentFixture;
  beforeAll(async () => {
    fixture = await AgentFixture.start();
  });
  afterAll(() => fixture?.stop());

  it('applies everything in order, labels it with the project, and waits until it runs', async () => {
    const result = await fixture.deploy([
      deployment('web', { replicas: 2 }),
      service('web'),
      configMap('settings', { a: '1' }),
    ]);
    expect(result).toMatchObject({
      command: 'deploy',
      status: 'succeeded',
      deploy: { project_id: 'shop', partially_applied: false, summary: { created: 3, failed: 0 } },
    });
    expect(actions(result)).toEqual(['ConfigMap/settings created', 'Service/web created', 'Deployment/web created']);
    expect(result.deploy?.resources.every(({ health, uid }) => health === 'ready' && uid !== undefined)).toBe(true);
    const pods = await fixture.json('pods', '-l', 'svc.dev/project=shop');
    expect(fieldAt(pods, 'items', 1, 'spec', 'containers', 0, 'env')).toEqual([
      { name: 'SVC_PROJECT_ID', value: 'shop' },
    ]);
    const phases = fixture.platform.messages('command_progress').map(({ phase }) => phase);
    expect(new Set(phases)).toEqual(new Set(['validating', 'dry_run', 'applying', 'waiting']));
  });

  it('changes nothing when the manifest is unchanged', async () => {
    const result = await fixture.deploy([
      deployment('web', { replicas: 2 }),
      service('web'),
      configMap('settings', { a: '1' }),
    ]);
    expect(result.deploy?.summary).toEqual({
      created: 0,
      configured: 0,
      unchanged: 3,
      pruned: 0,
      skipped: 0,
      failed: 0,
    });
  });

  it('shows the diff of a dry run and changes nothing', async () => {
    const before = await fixture.json('configmap', 'settings');
    const result = await fixture.deploy([configMap('settings', { a: '2' }), configMap('more')], { dry_run: true });
    expect(result).toMatchObject({ status: 'succeeded', deploy: { dry_run: true } });
    expect(actions(result).toSorted()).toEqual([
      'ConfigMap/more created',
      'ConfigMap/settings configured',
      'Deployment/web pruned',
      'Service/web pruned',
    ]);
    expect(result.deploy?.resources[0]?.diff).toEqual([{ path: '.data.a', before: '"1"', after: '"2"' }]);
    expect(await fixture.json('configmap', 'settings')).toEqual(before);
    await expect(fixture.json('configmap', 'more')).rejects.toThrow('NotFound');
  });

  it('prunes objects removed from the manifest, and nothing that it does not own', async () => {
    await fixture.inNamespace('create', 'configmap', 'foreign');
    const result = await fixture.deploy([deployment('web', { replicas: 1 })]);
    expect(result).toMatchObject({ status: 'succeeded', deploy: { summary: { configured: 1, pruned: 2 } } });
    expect((await fixture.inNamespace('get', 'configmap,service', '-o', 'name')).split('\n')).toEqual(
      expect.arrayContaining(['configmap/foreign']),
    );
    await expect(fixture.json('configmap', 'settings')).rejects.toThrow('NotFound');
    await expect(fixture.json('service', 'web')).rejects.toThrow('NotFound');
  });

  it('separates two projects in one namespace', async () => {
    await fixture.deploy([configMap('of-a')], { project_id: 'a' });
    await fixture.deploy([configMap('of-b')], { project_id: 'b' });
    await fixture.deploy([configMap('other-of-a')], { project_id: 'a' });
    const names = await fixture.inNamespace('get', 'configmap', '-o', 'name');
    expect(names).toContain('of-b');
    expect(names).toContain('other-of-a');
    expect(names).not.toMatch(/\/of-a$/m);
  });

  it('changes nothing when the cluster rejects one of many objects', async () => {
    const broken = { ...service('broken'), spec: { ports: [{ port: 700_000 }] } };
    const result = await fixture.deploy([configMap('first'), broken, configMap('last')], { project_id: 'refused' });
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'INVALID_REQUEST', details: { field: 'manifest[1]' } },
      deploy: { partially_applied: false, summary: { failed: 1, skipped: 2 } },
    });
    expect(result.error?.message).toContain('700000');
    const names = await fixture.inNamespace('get', 'configmap', '-o', 'name');
    expect(names).not.toMatch(/first|last/);
  });

  it.each([
    [
      'an unknown kind',
      { apiVersion: 'v1', kind: 'Unicorn', metadata: { name: 'x' } },
      'INVALID_REQUEST',
      'manifest[0].kind',
    ],
    ['an unknown field', { ...configMap('x'), colour: 'blue' }, 'INVALID_REQUEST', 'manifest[0]'],
    [
      'another namespace',
      configMap('x', {}, { namespace: 'kube-system' }),
      'FORBIDDEN',
      'manifest[0].metadata.namespace',
    ],
    [
      'a cluster-scoped kind',
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } },
      'FORBIDDEN',
      'manifest[0].kind',
    ],
    ['the same object twice', [configMap('x'), configMap('x')], 'INVALID_REQUEST', 'manifest[1]'],
    [
      'a role above its own',
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'x' } },
      'FORBIDDEN',
      'manifest[0].kind',
    ],
  ])('rejects %s with its location', async (_what, manifest, code, field) => {
    const result = await fixture.deploy(manifest, { project_id: 'refused' });
    expect(result).toMatchObject({ status: 'failed', error: { code, details: { field } } });
    expect(result.deploy?.partially_applied ?? false).toBe(false);
  });

  it('reports a missing namespace', async () => {
    const result = await fixture.deploy(configMap('x'), { namespace: 'nowhere', project_id: 'refused' });
    expect(result).toMatchObject({ status: 'failed', error: { code: 'NOT_FOUND' } });
  });

  it('names the field and manager of a conflict, and takes the field only with force', async () => {
    await fixture.deploy(configMap('shared', { a: '1' }), { project_id: 'conflict' });
    const theirs = JSON.stringify({ ...configMap('shared', { a: '2' }) });
    await fixture.kubectl.withInput(
      theirs,
      '-n',
      fixture.namespace,
      'apply',
      '--server-side',
      '--force-conflicts',
      '--field-manager=somebody',
      '-f',
      '-',
    );
    const refused = await fixture.deploy(configMap('shared', { a: '3' }), { project_id: 'conflict' });
    expect(refused).toMatchObject({
      status: 'failed',
      error: { code: 'CONFLICT', details: { field: '.data.a', manager: 'somebody', resource: 'ConfigMap/shared' } },
      deploy: { partially_applied: false },
    });
    const forced = await fixture.deploy(configMap('shared', { a: '3' }), {
      project_id: 'conflict',
      force_conflicts: true,
    });
    expect(forced.status).toBe('succeeded');
    expect(fieldAt(await fixture.json('configmap', 'shared'), 'data', 'a')).toBe('3');
  });

  it('explains why an object does not become ready, and that it is applied', async () => {
    const result = await fixture.deploy(deployment('stuck', { image: 'localhost/absent:1' }), {
      project_id: 'stuck',
      timeout_seconds: 5,
    });
    expect(result).toMatchObject({
      status: 'timed_out',
      error: { code: 'NOT_READY', details: { field: 'Deployment/stuck' } },
      deploy: { summary: { created: 1 }, partially_applied: false, resources: [{ health: 'degraded' }] },
    });
    // On a busy machine, the kubelet may not have handled the pod yet.
    await waitFor(
      async () => {
        const again = deployment('stuck', { image: 'localhost/absent:1' });
        const { error } = await fixture.deploy(again, { project_id: 'stuck', timeout_seconds: 5 });
        return /ErrImageNeverPull|ImagePull/.test(error?.message ?? '');
      },
      { timeoutMs: 120_000, description: 'a result that names the image' },
    );
    const quick = await fixture.deploy(deployment('stuck', { image: 'localhost/absent:1' }), {
      project_id: 'stuck',
      wait: false,
    });
    expect(quick.status).toBe('succeeded');
  });

  const container = (fields: object): object => ({ name: 'main', image: TEST_IMAGE, ...fields });
  it.each([
    [
      'a crash',
      { containers: [container({ command: ['sh', '-c', 'exit 3'] })] },
      /container main .*exited with code 3/,
    ],
    [
      'an init container that fails',
      { initContainers: [{ name: 'setup', image: TEST_IMAGE, command: ['false'] }], containers: [container({})] },
      /container setup .*exited with code 1/,
    ],
    [
      'a probe that fails',
      {
        containers: [
          container({
            command: ['sleep', '3600'],
            readinessProbe: { exec: { command: ['sh', '-c', 'echo no luck; exit 1'] }, periodSeconds: 1 },
          }),
        ],
      },
      /Readiness probe failed: no luck/,
    ],
    [
      'more than any node has',
      { containers: [container({ resources: { requests: { cpu: '1000' } } })] },
      /Insufficient cpu/,
    ],
    [
      'a service account that is not there',
      { serviceAccountName: 'nobody', containers: [container({})] },
      /serviceaccount "nobody" not found/,
    ],
  ])('names %s as the reason for not being ready', async (what, podSpec, words) => {
    const name = `not-${what.replaceAll(' ', '-')}`;
    const object = deployment(name) as { spec: { template: { spec: object } } };
    object.spec.template.spec = { terminationGracePeriodSeconds: 0, ...podSpec };
    // Retries: on a busy machine, the pod may not even have started after the first deploy.
    await waitFor(
      async () => {
        const result = await fixture.deploy(object, { project_id: name, timeout_seconds: 3 });
        return result.status === 'timed_out' && words.test(result.error?.message ?? '') ? true : undefined;
      },
      { timeoutMs: 120_000, description: `a result that names ${what}` },
    );
    await fixture.inNamespace('delete', 'deployment', name, '--wait=false');
  });

  it('names the immutable field without revealing the object’s content', async () => {
    const job = (value: string): object => {
      const env = [{ name: 'PASSWORD', value }];
      const spec = { restartPolicy: 'Never', containers: [container({ command: ['true'], env })] };
      return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'fixed' }, spec: { template: { spec } } };
    };
    expect(await fixture.deploy(job('one'), { project_id: 'fixed' })).toMatchObject({ status: 'succeeded' });
    const { error } = await fixture.deploy(job('hunter2'), { project_id: 'fixed' });
    expect(error).toMatchObject({
      code: 'INVALID_REQUEST',
      message: 'Job.batch "fixed" is invalid: spec.template: field is immutable',
    });
    await fixture.inNamespace('delete', 'job', 'fixed', '--wait=false');
  });

  it('reports every error in a manifest at once', async () => {
    const manifest = [
      { apiVersion: 'v1', kind: 'Unicorn', metadata: { name: 'x' } },
      configMap('x', {}, { namespace: 'kube-system' }),
      configMap('No Name'),
      configMap('fine'),
      { ...deployment('web'), metadata: { name: 'web', annotations: { 'svc.dev/auto-scale': 'perhaps' } } },
    ];
    const result = await fixture.deploy(manifest, { project_id: 'refused' });
    expect(result).toMatchObject({ status: 'failed', error: { code: 'INVALID_REQUEST' } });
    const issues = result.error?.details?.['issues'] as { field: string }[];
    expect(issues.map(({ field }) => field).toSorted()).toEqual([
      'manifest[0].kind',
      'manifest[1].metadata.namespace',
      'manifest[2].metadata.name',
      'manifest[4].metadata.annotations["svc.dev/auto-scale"]',
    ]);
  });

  it('stops waiting when cancelled, and reports what it has done', async () => {
    const sent = fixture.deploy(
      deployment('slow', { image: 'localhost/absent:1' }),
      { project_id: 'slow' },
      'cmd-cancelled',
    );
    await fixture.platform.waitForMessage(
      'command_progress',
      ({ command_id: id, phase }) => id === 'cmd-cancelled' && phase === 'waiting',
    );
    fixture.platform.send('cancel', { command_id: 'cmd-cancelled' });
    expect(await sent).toMatchObject({
      status: 'cancelled',
      error: { code: 'CANCELLED' },
      deploy: { summary: { created: 1 } },
    });
  });

  it('runs one deploy per project at a time, and only the newest of those that wait', async () => {
    const first = fixture.deploy(
      deployment('queue', { image: 'localhost/absent:1' }),
      { project_id: 'queue', timeout_seconds: 4 },
      'cmd-q1',
    );
    await fixture.platform.waitForMessage(
      'command_progress',
      ({ command_id: id, phase }) => id === 'cmd-q1' && phase === 'waiting',
    );
    const second = fixture.deploy(configMap('second'), { project_id: 'queue' }, 'cmd-q2');
    await fixture.platform.waitForMessage(
      'command_ack',
      ({ command_id: id, state }) => id === 'cmd-q2' && state === 'queued',
    );
    const third = fixture.deploy(configMap('third'), { project_id: 'queue' }, 'cmd-q3');
    const other = await fixture.deploy(configMap('elsewhere'), { project_id: 'not-queue' });
    expect(other.status).toBe('succeeded');
    expect((await second).status).toBe('superseded');
    expect((await first).status).toBe('timed_out');
    expect((await third).status).toBe('succeeded');
    const names = await fixture.inNamespace('get', 'configmap', '-o', 'name');
    expect(names).toContain('third');
    expect(names).not.toContain('second');
  });

  it('keeps objects that hold data or are marked to be kept', async () => {
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
    };
    const kept = configMap('kept', {}, { annotations: { 'svc.dev/prune': 'disabled' } });
    await fixture.deploy([claim, kept, configMap('goes')], { project_id: 'data' });
    const result = await fixture.deploy([configMap('new')], { project_id: 'data' });
    expect(actions(result).toSorted()).toEqual([
      'ConfigMap/goes pruned',
      'ConfigMap/kept skipped',
      'ConfigMap/new created',
      'PersistentVolumeClaim/data skipped',
    ]);
    const unpruned = await fixture.deploy([configMap('newer')], { project_id: 'data', prune: false });
    expect(actions(unpruned)).toEqual(['ConfigMap/newer created']);
    const result2 = await fixture.deploy([configMap('newer')], { project_id: 'data' });
    expect(actions(result2)).toContain('ConfigMap/new pruned');
  });

  it('does not delete an object that someone recreated under the same name', async () => {
    await fixture.deploy([configMap('mine'), configMap('stays')], { project_id: 'anew' });
    await fixture.inNamespace('delete', 'configmap', 'mine');
    const label = { labels: { 'svc.dev/project': 'anew' } };
    await fixture.kubectl.withInput(
      JSON.stringify(configMap('mine', {}, label)),
      '-n',
      fixture.namespace,
      'create',
      '-f',
      '-',
    );
    const result = await fixture.deploy([configMap('stays')], { project_id: 'anew' });
    expect(actions(result)).toEqual(['ConfigMap/stays unchanged']);
    await fixture.json('configmap', 'mine');
  });

  it('passes on warnings of the API server', async () => {
    const web = deployment('warned', { replicas: 0 }) as { spec: { template: { spec: Record<string, unknown> } } };
    web.spec.template.spec['nodeSelector'] = { 'beta.kubernetes.io/os': 'linux' };
    const result = await fixture.deploy(web, { project_id: 'warned' });
    expect(result.status).toBe('succeeded');
    expect(result.deploy?.warnings.join(' ')).toContain('beta.kubernetes.io/os');
  });

  it('reports the cluster’s metrics, and is ready', async () => {
    await expect
      .poll(async () => (await fixture.test.get('/readyz')).json(), { timeout: 60_000 })
      .toMatchObject({ status: 'ready', checks: { api_connection: 'ok', kubernetes: 'ok', tunnel: 'ok' } });
    const status = await fixture.platform.waitForMessage('cluster_status');
    expect(status).toMatchObject({
      health: 'healthy',
      nodes: 1,
      kubernetes_version: expect.stringMatching(/^v1\./) as string,
    });
    await waitFor(() => fixture.platform.messages('heartbeat').some(({ metrics }) => metrics.active_pods >= 0));
    expect(await (await fixture.test.get('/info')).json()).toMatchObject({
      kubernetes_version: status.kubernetes_version,
    });
  });
});
