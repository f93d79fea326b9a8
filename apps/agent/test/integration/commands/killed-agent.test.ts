import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PlayedKubernetes } from '../../support/played-kubernetes.ts';
import { TestPlatform } from '../../support/test-platform.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');
const WEB = '/apis/apps/v1/namespaces/shop/deployments/web';
const SETTINGS = '/api/v1/namespaces/shop/configmaps/settings';
const READY = { observedGeneration: 1, updatedReplicas: 1, availableReplicas: 1, replicas: 1 };

function manifest(version: string): string {
  const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { version } };
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'web:1' }] } };
  const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template };
  const web = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec };
  return [settings, web].map((document) => JSON.stringify(document)).join('\n---\n');
}

describe('a killed agent', () => {
  let folder: TemporaryFolder;
  let kubernetes: PlayedKubernetes;
  let platform: TestPlatform;
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    folder = await temporaryFolder();
    kubernetes = await PlayedKubernetes.start();
    await writeFile(join(folder.path, 'kubeconfig'), kubernetes.kubeconfig);
    platform = await TestPlatform.start();
  });
  afterEach(async () => {
    for (const child of children.splice(0)) await kill(child);
    await platform.close();
    await kubernetes.close();
    await folder.remove();
  });

  const start = async (stateDir = 'state'): Promise<ChildProcess> => {
    const before = platform.messages('hello').length;
    const environment = {
      PATH: process.env['PATH'] ?? '',
      CLUSTER_NAME: 'test-cluster',
      SVC_API_URL: platform.url,
      SVC_TOKEN: 'svc_agt_token_of_the_test',
      SVC_CLUSTER_ID: 'cls-123abc',
      SVC_STATE_DIR: join(folder.path, stateDir),
      SVC_AGENT_HOST: '127.0.0.1',
      SVC_AGENT_PORT: '0',
      SVC_METRICS_PORT: '0',
      KUBECONFIG: join(folder.path, 'kubeconfig'),
    };
    const child = spawn(process.execPath, [MAIN, 'run'], { env: environment, stdio: 'ignore' });
    children.push(child);
    await waitFor(() => platform.messages('hello').length > before);
    return child;
  };
  const kill = async (child: ChildProcess): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  const deploy = (id: string, version = '1'): string =>
    platform.send('deploy', { project_id: 'shop', namespace: 'shop', manifest: manifest(version) }, id);
  const untilWaiting = (id: string) =>
    platform.waitForMessage('command_progress', ({ command_id: of, phase }) => of === id && phase === 'waiting');

  it('finishes its deploy after a restart, including the wait for readiness', async () => {
    const first = await start();
    deploy('cmd-1');
    await untilWaiting('cmd-1');
    await kill(first);
    kubernetes.setStatus(WEB, READY);
    await start();
    expect(await platform.result('cmd-1')).toMatchObject({
      status: 'succeeded',
      deploy: {
        warnings: [expect.stringContaining('ran it again')],
        resources: [
          { kind: 'ConfigMap', action: 'unchanged', health: 'ready' },
          { kind: 'Deployment', action: 'unchanged', health: 'ready' },
        ],
      },
    });
    expect(platform.messages('hello').at(-1)?.in_flight).toEqual(['cmd-1']);
    expect(kubernetes.changes.filter((path) => path === WEB || path === SETTINGS)).toEqual([SETTINGS, WEB]);
  });

  it('eventually reports lost if every process that resumes the deploy is killed', async () => {
    let child = await start();
    deploy('cmd-1');
    for (let run = 0; run < 4; run += 1) {
      await waitFor(() => platform.connection.received.some(({ type }) => type === 'command_progress'));
      await kill(child);
      child = await start();
    }
    expect(await platform.result('cmd-1')).toMatchObject({ status: 'lost', error: { code: 'LOST' } });
    const numbers = platform.messages('command_progress').map(({ seq }) => seq);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('reports lost for an exec, because its effects cannot be known', async () => {
    const first = await start();
    const exec = { pod: 'web-1', namespace: 'shop', container: 'main', command: ['date'] };
    const held = kubernetes.hold('/api/v1/namespaces/shop/pods/web-1');
    platform.send('exec', exec, 'cmd-exec');
    await held;
    await kill(first);
    await start();
    expect(await platform.result('cmd-exec')).toMatchObject({ status: 'lost', error: { code: 'LOST' } });
  });

  it('finishes a resent deploy without its state folder, unless a newer one arrived', async () => {
    kubernetes.objects.set(WEB, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: {}, status: READY });
    const first = await start();
    deploy('cmd-1');
    expect(await platform.result('cmd-1')).toMatchObject({ status: 'succeeded' });
    deploy('cmd-2', '2');
    expect(await platform.result('cmd-2')).toMatchObject({ status: 'succeeded' });
    await kill(first);
    await start('another');
    const results = () => platform.connection.received.filter(({ type }) => type === 'command_result');
    deploy('cmd-2', '2');
    await waitFor(() => results().length === 1);
    deploy('cmd-1');
    await waitFor(() => results().length === 2);
    expect(results().map(({ payload }) => payload)).toMatchObject([
      { command_id: 'cmd-2', status: 'succeeded' },
      { command_id: 'cmd-1', status: 'superseded', error: { code: 'SUPERSEDED' } },
    ]);
    expect(kubernetes.objects.get(SETTINGS)).toMatchObject({ data: { version: '2' } });
  });
});
