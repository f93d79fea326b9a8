import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentDelivery, type RegisteredCluster } from './agent-delivery.ts';
import { helmRequirement, kubernetesRequirement } from './index.ts';
import { DRIFTING } from './drifting-kinds.ts';
import { GAINED, PROFILES, REFUSED_TO_ALL, type Profile } from './profile-rights.ts';

const given = (process.env['KUBECONFIG_UNDER_TEST'] ?? '') !== '';
const reason = given
  ? 'a cluster was given from outside, which no image can be given to'
  : ((await kubernetesRequirement()) ?? (await helmRequirement()));
const TITLE = 'the delivered agent';
const CHART = 'deploy/helm/svc-agent';

const MANIFEST = `apiVersion: v1
kind: ConfigMap
metadata: { name: greeting }
data: { hello: world }
`;

/** Values that the chart rejects, and the field that its error names. */
const REFUSED_VALUES: readonly (readonly [value: string, named: string])[] = [
  ['agent.clusterName=Not_A_Name', '/agent/clusterName'],
  ['agent.clusterName=', '/agent/clusterName'],
  ['svc.apiUrl=platform.example', '/svc/apiUrl'],
  ['svc.existingSecret=', '/svc/token'],
  ['rbac.profile=cluster-admin', '/rbac/profile'],
  ['rbac.namespaces={Upper}', '/rbac/namespaces/0'],
  ['config.svc.token=secret', '/config/svc/token'],
  ['config.log.level=loud', '/config/log/level'],
  ['config.tunel.enabled=true', 'tunel'],
  ['image.repository=Not/A Repository', '/image/repository'],
  ['replicas=2', 'replicas'],
  ['image.digest=latest', '/image/digest'],
];

describe.skipIf(reason !== null)(reason === null ? TITLE : skippedTitle(TITLE, reason), () => {
  let delivery: AgentDelivery;
  let cluster: RegisteredCluster;
  beforeAll(async () => {
    delivery = await AgentDelivery.start();
    cluster = await delivery.register('production');
  }, 20 * 60_000); // allows for building Helm on first use
  afterAll(() => delivery?.stop());

  const account = () => `system:serviceaccount:${delivery.namespace}:svc-agent`;
  const may = async (right: string, namespace = delivery.namespace): Promise<boolean> => {
    const { exitCode, stdout, stderr } = await delivery.tryKubectl(
      'auth',
      'can-i',
      ...right.split(' '),
      `--as=${account()}`,
      `--namespace=${namespace}`,
    );
    const answer = stdout.trim();
    if (answer !== 'yes' && answer !== 'no') throw new Error(`can-i ${right}: ${answer} ${stderr}`);
    expect(exitCode).toBe(answer === 'yes' ? 0 : 1);
    return answer === 'yes';
  };
  const refused = async (rights: readonly string[], namespace?: string): Promise<string[]> => {
    const answers = await Promise.all(rights.map((right) => may(right, namespace)));
    return rights.filter((_, index) => answers[index] === false);
  };
  /** Polls, because the API server applies a changed role with a short delay. */
  const refusedAtLast = (rights: readonly string[], namespace?: string) =>
    expect.poll(() => refused(rights, namespace), { timeout: 60_000, interval: 500 });
  const limitationsAtLast = (matches: (features: string[]) => boolean): Promise<Record<string, string>> =>
    waitFor(
      async () => {
        const limited = await delivery.limitations();
        return matches(Object.keys(limited)) ? limited : null;
      },
      { timeoutMs: 120_000, intervalMs: 500, description: 'the limitations of the agent' },
    );
  const upgrade = async (...values: string[]): Promise<void> => {
    const place = ['--namespace', delivery.namespace, '--reuse-values'];
    await delivery.helm('upgrade', 'svc-agent', CHART, ...place, ...values.flatMap((value) => ['--set', value]));
    await delivery.untilRolledOut();
  };

  it('passes helm lint, and rejects invalid values by name', async () => {
    const right = ['--set', 'agent.clusterName=a,svc.apiUrl=https://platform.example,svc.existingSecret=s'];
    expect(await delivery.helm('lint', '--strict', CHART, ...right)).toContain('0 chart(s) failed');
    for (const [value, named] of REFUSED_VALUES) {
      const { exitCode, stderr } = await delivery.tryHelm('template', CHART, ...right, '--set', value);
      expect(exitCode, value).not.toBe(0);
      expect(stderr).toContain(named);
    }
  });

  it('is pulled by a node’s runtime from the platform’s registry, and runs there', async () => {
    const repository = `${new URL(delivery.platform.ready.url).host}/svc-agent`;
    // Plain HTTP, which a runtime accepts only with this flag: the test covers the registry, not TLS.
    const pulled = await delivery.onNode(`ctr -n k8s.io images pull --plain-http ${repository}:0.1.0`);
    expect(pulled).toMatchObject({ exitCode: 0 });
    const { exitCode, stderr } = await delivery.shell(
      `${cluster.install.helm.trimEnd()} --set image.repository=${repository}`,
    );
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    await delivery.untilOnline(cluster);
    const { stdout } = await delivery.tryKubectl('get', 'pods', '-o', 'jsonpath={.items[*].spec.containers[0].image}');
    expect(stdout).toContain(`${repository}:0.1.0`);
    await delivery.helm('uninstall', 'svc-agent', '--namespace', delivery.namespace, '--wait');
  });

  it('installs with the commands that the platform prints for the node and Helm, and deploys', async () => {
    expect(cluster.install.image).toMatchObject({ available: true });
    const imported = await delivery.onNode(cluster.install.image?.command ?? '');
    expect(imported).toMatchObject({ exitCode: 0 });
    const { exitCode, stderr } = await delivery.shell(cluster.install.helm);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    await delivery.untilOnline(cluster);
    const body = { project_id: 'shop', namespace: delivery.namespace, manifest: MANIFEST };
    const deployment = await delivery.api.post<{ status: string }>(`/v1/clusters/${cluster.id}/deploy?wait=60s`, body);
    expect(deployment.status).toBe('succeeded');
    const made = await delivery.tryKubectl('get', 'configmap', 'greeting', '-o', 'jsonpath={.data.hello}');
    expect(made.stdout).toBe('world');
  });

  it('watches everything the deployer profile can deploy, and reports the kinds it cannot watch', async () => {
    const body = { project_id: 'drifting', namespace: delivery.namespace, manifest: DRIFTING.manifest };
    const path = `/v1/clusters/${cluster.id}`;
    const deployment = await delivery.api.post<{ status: string; error: unknown }>(`${path}/deploy?wait=60s`, {
      ...body,
      wait: false,
    });
    expect(deployment).toMatchObject({ status: 'succeeded', error: null });
    const limited = await limitationsAtLast((features) => features.some((each) => each.startsWith('drift of')));
    const secrets = `drift of Secret objects in ${delivery.namespace}`;
    expect(Object.keys(limited).filter((each) => each.startsWith('drift of'))).toEqual([secrets]);
    expect(limited[secrets]).toContain('secrets is forbidden');
    await delivery.kubernetes.kubectl(
      '-n',
      delivery.namespace,
      'delete',
      '--wait=false',
      ...DRIFTING.objects,
      'secret/drifting',
    );
    const query = 'event_type=drift_detected&page_size=200';
    const told = async (): Promise<string[]> => {
      const page = await delivery.api.get<{ events: { resource: string }[] }>(`${path}/events?${query}`);
      return [...new Set(page.events.map(({ resource }) => resource))].toSorted();
    };
    await expect.poll(told, { timeout: 120_000, interval: 500 }).toEqual(DRIFTING.objects.toSorted());
  });

  it('runs without privileges in a namespace at the restricted level', async () => {
    const script = `
      const fs = require('node:fs');
      const status = Object.fromEntries(fs.readFileSync('/proc/1/status', 'utf8').split('\\n').map((line) => line.split(':\\t')));
      const write = (path) => { try { fs.writeFileSync(path, ''); return 'written'; } catch (error) { return error.code; } };
      const { Uid, CapEff, CapBnd, NoNewPrivs, Seccomp } = status;
      console.log(JSON.stringify({ Uid, CapEff, CapBnd, NoNewPrivs, Seccomp, root: write('/x'), state: write('/var/lib/svc-agent/x') }));`;
    const { stdout } = await delivery.tryKubectl('exec', 'deploy/svc-agent', '--', '/usr/local/bin/node', '-e', script);
    expect(JSON.parse(stdout)).toEqual({
      Uid: '65532\t65532\t65532\t65532',
      CapEff: '0000000000000000',
      CapBnd: '0000000000000000',
      NoNewPrivs: '1',
      Seccomp: '2',
      root: 'EROFS',
      state: 'written',
    });
    // A dry run of the label warns about every pod that the level would not admit.
    const label = 'pod-security.kubernetes.io/enforce=restricted';
    const { stderr } = await delivery.tryKubectl('label', '--dry-run=server', 'namespace', delivery.namespace, label);
    expect(stderr).toBe('');
  });

  it.each(PROFILES)('grants profile %s exactly its own rights and denies those of higher profiles', async (profile) => {
    await upgrade(`rbac.profile=${profile}`);
    const index = PROFILES.indexOf(profile);
    const gained = PROFILES.slice(0, index + 1).flatMap((each) => GAINED[each]);
    const later = PROFILES.slice(index + 1).flatMap((each) => GAINED[each]);
    await refusedAtLast(gained).toEqual([]);
    expect(await refused(later)).toEqual(later);
    expect(await refused(REFUSED_TO_ALL)).toEqual(REFUSED_TO_ALL);
    await refusedForReal(profile);
  });

  /** Runs real calls and commands instead of checking rights: the API server and the agent must refuse them. */
  async function refusedForReal(profile: Profile): Promise<void> {
    const as = `--as=${account()}`;
    const secrets = await delivery.tryKubectl('get', 'secrets', as);
    expect(secrets.exitCode === 0).toBe(profile === 'admin');
    if (profile !== 'admin') expect(secrets.stderr).toContain('Forbidden');
    const made = await delivery.tryKubectl('create', 'configmap', `of-${profile}`, as);
    expect(made.exitCode === 0).toBe(profile !== 'observer');
    // An admin may grant the rights that it has, and no others.
    const role = ['create', 'role', `of-${profile}`, '--resource=pods', as];
    expect((await delivery.tryKubectl(...role, '--verb=impersonate')).exitCode).not.toBe(0);
    expect((await delivery.tryKubectl(...role, '--verb=get')).exitCode === 0).toBe(profile === 'admin');

    const { stdout: pod } = await delivery.tryKubectl('get', 'pods', '-o', 'jsonpath={.items[0].metadata.name}');
    const body = { pod, namespace: delivery.namespace, command: ['/usr/local/bin/node', '-p', '6 * 7'] };
    await delivery.untilOnline(cluster);
    const exec = delivery.api.post<{ status: string }>(`/v1/clusters/${cluster.id}/exec?wait=60s`, body);
    const { status } = await exec;
    expect(status).toBe(profile === 'operator' || profile === 'admin' ? 'succeeded' : 'failed');
  }

  it('stays within the configured namespaces, and stays connected', async () => {
    await upgrade('rbac.profile=deployer', `rbac.namespaces={${delivery.namespace}}`);
    await delivery.untilOnline(cluster);
    await refusedAtLast(['create deployments.apps', 'patch secrets', 'list pods']).toEqual([]);
    const elsewhere = ['create deployments.apps', 'patch secrets', 'list pods', 'get configmaps', 'list nodes'];
    await refusedAtLast(elsewhere, 'kube-system').toEqual(elsewhere);
    const limited = await limitationsAtLast((features) => features.includes('numbers of nodes'));
    expect(limited).toMatchObject({ 'events of nodes': expect.stringContaining('kubernetes.namespaces') as string });
    expect(Object.keys(limited).filter((each) => each.endsWith(` in ${delivery.namespace}`))).toEqual([]);
    await upgrade('rbac.watchCluster=true');
    await limitationsAtLast((features) => !features.some((each) => each.endsWith('s of nodes')));
    await refusedAtLast(elsewhere, 'kube-system').toEqual([
      'create deployments.apps',
      'patch secrets',
      'get configmaps',
    ]);
  });

  it('installs with the plain manifest and the kubectl command that the platform prints', async () => {
    await delivery.helm('uninstall', 'svc-agent', '--namespace', delivery.namespace, '--wait');
    const values = ['--namespace', 'svc-system', '-f', 'deploy/kubernetes/values.yaml'];
    const rendered = await delivery.helm('template', 'svc-agent', CHART, ...values);
    expect(await delivery.file('deploy/kubernetes/svc-agent.yaml')).toBe(rendered);

    const second = await delivery.register('2026');
    const { exitCode, stderr } = await delivery.shell(second.install.kubectl);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    await delivery.untilOnline(second);
    await refusedAtLast(GAINED.deployer).toEqual([]);
    expect(await refused(GAINED.operator)).toEqual(GAINED.operator);
  });
});
