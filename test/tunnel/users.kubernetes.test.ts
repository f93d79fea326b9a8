import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { startTestAgent, type TestAgent } from '@svc/agent/testing';
import { createClient } from '@svc/sdk';
import { skippedTitle, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandLine } from '../command-line/command-line.ts';
import { binariesFolder, kubernetesRequirement, startKubernetes, type Kubernetes } from '../kubernetes/index.ts';
import { makeServiceAccount } from '../kubernetes/service-account.ts';
import { startPlatform, type RunningPlatform } from '../system/running-platform.ts';
import { tunnelOpened } from './tunnel-fixture.ts';

const reason = await kubernetesRequirement();
const TITLE = 'users impersonated by a cluster’s agent';

describe.skipIf(reason !== null)(reason === null ? TITLE : skippedTitle(TITLE, reason), () => {
  const namespace = `users-${randomUUID().slice(0, 8)}`;
  let folder: TemporaryFolder;
  let kubernetes: Kubernetes;
  let platform: RunningPlatform;
  let agent: TestAgent;
  let teamUuid: string;
  const users = new Map<string, string>();

  beforeAll(async () => {
    folder = await temporaryFolder('svc-users-');
    kubernetes = await startKubernetes();
    await kubernetes.kubectl('create', 'namespace', namespace);
    platform = await startPlatform({
      dataFolder: join(folder.path, 'data'),
      environment: { SVC_SERVICES: '["clusters"]' },
    });
    const cluster = await seed();
    agent = await startTestAgent({
      platformUrl: platform.ready.url,
      environment: {
        CLUSTER_NAME: 'observatory',
        SVC_CLUSTER_ID: cluster.id,
        SVC_TOKEN: cluster.token,
        TUNNEL_ENABLED: 'true',
        TUNNEL_KUBERNETES_IDENTITY: 'user',
        KUBECONFIG: await speaker(),
      },
    });
    await tunnelOpened(platform, cluster.id);
    await svc('member').answer(['kubeconfig', 'observatory', '--namespace', namespace, '--out', fileOf('member')]);
  });
  afterAll(async () => {
    await agent?.stop();
    await platform?.stop();
    await kubernetes?.kubectl('delete', 'namespace', namespace, '--wait=false');
    await kubernetes?.kubectl('delete', 'clusterrole,clusterrolebinding', namespace, '--ignore-not-found');
    await kubernetes?.stop();
    await folder?.remove();
  });

  /** A team with a cluster, and one user per role. */
  async function seed(): Promise<{ id: string; token: string }> {
    const { url, token } = platform.ready;
    const svc = createClient({ baseUrl: url, credential: { kind: 'token', token } });
    const team = await svc.teams.create('Observatory');
    teamUuid = team.uuid;
    const workspace = await svc.workspaces.create({ name: 'telescopes', teamUuid });
    const nobody = createClient({ baseUrl: url, credential: { kind: 'none' } });
    for (const role of ['member', 'guest'] as const) {
      const account = { email: `${role}@example.com`, password: `the ${role} looks at stars` };
      const invitation = await svc.teams.invite(teamUuid, { email: account.email, role });
      await nobody.accounts.acceptInvitation(invitation.token, { ...account, name: role });
      const session = await nobody.accounts.signIn(account);
      const signedIn = createClient({ baseUrl: url, credential: { kind: 'token', token: session.access_token } });
      users.set(role, (await signedIn.accounts.createToken({ name: 'kubectl' })).token);
    }
    return svc.clusters.in({ workspaceUuid: workspace.uuid, teamUuid }).create('observatory');
  }

  /** The agent's only right: impersonating users and groups. */
  async function speaker(): Promise<string> {
    const { kubectl } = kubernetes;
    const file = join(folder.path, 'agent');
    await makeServiceAccount({ kubectl, namespace, name: 'agent', file });
    await kubectl('create', 'clusterrole', namespace, '--verb=impersonate', '--resource=users,groups');
    const account = `--serviceaccount=${namespace}:agent`;
    await kubectl('create', 'clusterrolebinding', namespace, `--clusterrole=${namespace}`, account);
    return file;
  }

  const fileOf = (role: string): string => join(folder.path, role);

  function svc(role: string): CommandLine {
    const environment = { HOME: folder.path, SVC_URL: platform.ready.url, SVC_TEAM: teamUuid };
    return new CommandLine({ ...environment, SVC_TOKEN: users.get(role) ?? '' }, folder.path);
  }

  /** Runs kubectl with only that user's file and returns its output. */
  function kubectl(role: string, ...args: string[]): Promise<string> {
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder.path, KUBECONFIG: fileOf(role) };
    return new Promise((resolve) => {
      execFile(join(binariesFolder(), 'kubectl'), args, { env }, (_error, stdout, stderr) => resolve(stdout + stderr));
    });
  }

  function bind(role: string, clusterRole: string): Promise<string> {
    const group = `--group=svc:role:${role}`;
    const name = `${role}-${clusterRole}`;
    return kubernetes.kubectl('-n', namespace, 'create', 'rolebinding', name, `--clusterrole=${clusterRole}`, group);
  }

  it('are identified to Kubernetes by id and role, which only the agent can set', async () => {
    const said = await kubectl(
      'member',
      'auth',
      'whoami',
      '-o',
      'json',
      '--as',
      'admin',
      '--as-group',
      'system:masters',
    );
    const { status } = JSON.parse(said) as { status: { userInfo: { username: string; groups: string[] } } };
    expect(status.userInfo.username).toMatch(/^svc:user:[0-9a-f-]{36}$/);
    expect(status.userInfo.groups.toSorted()).toEqual(['svc:role:member', 'system:authenticated']);
  });

  it('have only the rights that the cluster grants to their role', async () => {
    expect(await kubectl('member', 'get', 'configmaps')).toMatch(
      /Forbidden.*User "svc:user:[0-9a-f-]{36}" cannot list resource "configmaps"/,
    );
    await bind('member', 'view');
    await waitFor(async () => (await kubectl('member', 'get', 'configmaps')).includes('kube-root-ca.crt'));
    expect(await kubectl('member', 'create', 'configmap', 'mine')).toMatch(/forbidden.*cannot create/);
    expect(await kubectl('member', 'get', 'secrets')).toMatch(/Forbidden.*cannot list resource "secrets"/);
    await bind('member', 'edit');
    await waitFor(async () =>
      (await kubectl('member', 'create', 'configmap', 'mine')).includes('configmap/mine created'),
    );
    expect(await kubectl('member', '-n', 'kube-system', 'get', 'pods')).toMatch(/Forbidden.*cannot list/);
  });

  it('can view as guests where the cluster allows it, and have no other access', async () => {
    const list = ['cluster', 'pods', 'observatory', '--namespace', namespace];
    const refused = await svc('guest').run(list);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringMatching(/forbidden|permission/i)]);
    await bind('guest', 'admin');
    await waitFor(async () => (await svc('guest').run(list)).exitCode === 0);
    for (const way of [
      ['kubeconfig', 'observatory'],
      ['exec', 'observatory', 'any', '-n', namespace, '--', 'id'],
    ]) {
      const { exitCode, stderr } = await svc('guest').run(way);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('Insufficient permissions')]);
    }
  });
});
