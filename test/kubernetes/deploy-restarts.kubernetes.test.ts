import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startTestAgent, TestPlatform } from '@svc/agent/testing';
import { skippedTitle, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentFixture, configMap, deployment, textOf } from './agent-fixture.ts';
import { kubernetesRequirement } from './index.ts';
import { makeServiceAccount } from './service-account.ts';

const reason = await kubernetesRequirement();
const title = 'a configured agent across restarts';

const RULES = `
deploy:
  namespaces: ["*"]
  cluster_scoped_kinds: [Namespace, CustomResourceDefinition]
  prune_kinds: [Namespace, CustomResourceDefinition]
`;

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let fixture: AgentFixture;
  let folder: TemporaryFolder;
  beforeAll(async () => {
    folder = await temporaryFolder();
    const file = join(folder.path, 'config.yaml');
    await writeFile(file, RULES);
    fixture = await AgentFixture.start({}, file);
  });
  afterAll(async () => {
    await fixture?.stop();
    await folder?.remove();
  });

  /** Another process in place of the agent, with its state or with none. */
  async function secondAgent(platform: TestPlatform, stateDir?: string, kubeconfig = fixture.kubernetes.kubeconfig) {
    return startTestAgent({
      platformUrl: platform.url,
      environment: { KUBECONFIG: kubeconfig },
      ...(stateDir === undefined ? {} : { stateDir }),
    });
  }

  it('applies a namespace, a custom kind and its object from one manifest, and prunes all of them', async () => {
    const { namespace } = fixture;
    const group = `${namespace}.example`;
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const manifest = [
      {
        apiVersion: `${group}/v1`,
        kind: 'Widget',
        metadata: { name: 'w', namespace: `${namespace}-two` },
        spec: { size: 3 },
      },
      configMap('inside', {}, { namespace: `${namespace}-two` }),
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `widgets.${group}` },
        spec: {
          group,
          scope: 'Namespaced',
          names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
        },
      },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${namespace}-two` } },
    ];
    const result = await fixture.deploy(manifest, { project_id: 'custom' });
    expect(result).toMatchObject({ status: 'succeeded', deploy: { summary: { created: 4 } } });
    expect(result.deploy?.resources.map(({ kind }) => kind)).toEqual([
      'Namespace',
      'CustomResourceDefinition',
      'ConfigMap',
      'Widget',
    ]);
    const pruned = await fixture.deploy(configMap('left'), { project_id: 'custom' });
    expect(pruned).toMatchObject({ status: 'succeeded', deploy: { summary: { pruned: 4 } } });
  });

  it('reapplies the newest deploy when only the cluster remembers it, and no older one', async () => {
    const deploy = (run: string, id: string) => fixture.deploy(configMap('once', { run }), { project_id: 'once' }, id);
    await deploy('1', 'cmd-older');
    await deploy('2', 'cmd-newest');
    const platform = await TestPlatform.start();
    const second = await secondAgent(platform);
    await platform.waitForMessage('heartbeat');
    const again = (run: string, id: string) => {
      const manifest = textOf(configMap('once', { run }));
      platform.send('deploy', { project_id: 'once', namespace: fixture.namespace, manifest }, id);
      return platform.result(id);
    };
    expect(await again('1', 'cmd-older')).toMatchObject({ status: 'superseded', error: { code: 'SUPERSEDED' } });
    expect(await again('2', 'cmd-newest')).toMatchObject({
      status: 'succeeded',
      deploy: { summary: { unchanged: 1 } },
    });
    expect(await fixture.json('configmap', 'once')).toMatchObject({ data: { run: '2' } });
    await second.stop();
    await platform.close();
  });

  it('finishes a deploy during which it was killed', async () => {
    await using state = await temporaryFolder();
    const [platform, next] = [await TestPlatform.start(), await TestPlatform.start()];
    const first = await secondAgent(platform, state.path);
    await platform.waitForMessage('heartbeat');
    const payload = {
      project_id: 'killed',
      namespace: fixture.namespace,
      manifest: textOf(deployment('killed', { command: ['sleep', '3600'] })),
    };
    platform.send('deploy', payload, 'cmd-killed');
    await platform.waitForMessage('command_progress', ({ phase }) => phase === 'applying' || phase === 'waiting');
    // Copies the state that the first agent would leave if killed now; its own folder stays locked.
    await using left = await temporaryFolder();
    await cp(state.path, left.path, { recursive: true });
    const second = await secondAgent(next, left.path);
    expect(await next.result('cmd-killed')).toMatchObject({
      status: 'succeeded',
      deploy: { resources: [{ kind: 'Deployment', name: 'killed', health: 'ready' }] },
    });
    await second.stop();
    await first.stop();
    await next.close();
    await platform.close();
  });

  it('has only the rights of its service account, and rereads the account’s token', async () => {
    const { kubectl, namespace } = fixture;
    const kubeconfig = join(folder.path, 'limited.json');
    const tokenFile = join(folder.path, 'token');
    await writeFile(tokenFile, 'outdated');
    const token = await makeServiceAccount({ kubectl, namespace, name: 'limited', file: kubeconfig, tokenFile });
    await fixture.inNamespace(
      'create',
      'role',
      'limited',
      '--verb=get,list,create,patch,delete',
      '--resource=configmaps',
    );
    await fixture.inNamespace(
      'create',
      'rolebinding',
      'limited',
      '--role=limited',
      `--serviceaccount=${namespace}:limited`,
    );
    const platform = await TestPlatform.start();
    const second = await secondAgent(platform, undefined, kubeconfig);
    await platform.waitForMessage('heartbeat');
    expect((await (await second.get('/readyz')).text()).match(/"kubernetes":"(\w+)"/)?.[1]).toBe('unauthorized');
    await writeFile(tokenFile, `${token}\n`);
    const send = (manifest: object, id: string) =>
      platform.send('deploy', { project_id: 'limited', namespace, manifest: textOf(manifest) }, id);
    await waitFor(async () => (await (await second.get('/readyz')).text()).includes('"kubernetes":"degraded"'));
    send(configMap('allowed'), 'cmd-allowed');
    expect(await platform.result('cmd-allowed')).toMatchObject({ status: 'succeeded' });
    send(deployment('refused'), 'cmd-refused');
    expect(await platform.result('cmd-refused')).toMatchObject({
      status: 'failed',
      error: { code: 'FORBIDDEN', details: { reason: 'Forbidden', kubernetes_status: 403 } },
    });
    await second.stop();
    await platform.close();
  });

  it('is not ready when the cluster does not recognize its credentials', async () => {
    const { kubectl, namespace } = fixture;
    const kubeconfig = join(folder.path, 'nobody.json');
    await makeServiceAccount({ kubectl, namespace, name: 'nobody', file: kubeconfig });
    const known = JSON.parse(await readFile(kubeconfig, 'utf8')) as { users: { name: string }[] };
    const users = known.users.map(({ name }) => ({ name, user: {} }));
    await writeFile(kubeconfig, JSON.stringify({ ...known, users }));
    const platform = await TestPlatform.start();
    const second = await secondAgent(platform, undefined, kubeconfig);
    await expect
      .poll(async () => (await second.get('/readyz')).json(), { timeout: 60_000 })
      .toMatchObject({ status: 'not_ready', checks: { api_connection: 'ok', kubernetes: 'forbidden' } });
    await second.stop();
    await platform.close();
  });
});
