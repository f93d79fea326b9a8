import type { FakeCaller } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRig, type Rig } from '../support/rig.ts';

const DEPLOY = {
  project_id: 'shop',
  namespace: 'default',
  manifest: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
  queue_if_offline: true,
};
const EXEC = { pod: 'web-1', namespace: 'default', command: ['date'], queue_if_offline: true };

const RESIZE = { rows: 24, cols: 80 };

/** Each route with its body and the lowest role that may call it. */
const ROUTES: readonly { method: string; path: string; body?: object; least: 'guest' | 'member' | 'admin' }[] = [
  { method: 'POST', path: '/v1/clusters', body: { name: 'another' }, least: 'admin' },
  { method: 'GET', path: '/v1/clusters', least: 'guest' },
  { method: 'GET', path: '/v1/clusters/production', least: 'guest' },
  { method: 'GET', path: '/v1/clusters/production/status', least: 'guest' },
  { method: 'POST', path: '/v1/clusters/production/token', body: {}, least: 'admin' },
  { method: 'POST', path: '/v1/clusters/production/deploy', body: DEPLOY, least: 'member' },
  { method: 'GET', path: '/v1/clusters/production/deployments', least: 'guest' },
  { method: 'GET', path: '/v1/clusters/production/deployments/dep-x', least: 'guest' },
  { method: 'GET', path: '/v1/clusters/production/deployments/dep-x/events', least: 'guest' },
  { method: 'DELETE', path: '/v1/clusters/production/deployments/dep-x', least: 'member' },
  { method: 'POST', path: '/v1/clusters/production/exec', body: EXEC, least: 'member' },
  { method: 'GET', path: '/v1/clusters/production/commands', least: 'guest' },
  { method: 'GET', path: '/v1/clusters/production/commands/cmd-x', least: 'guest' },
  { method: 'GET', path: '/v1/clusters/production/commands/cmd-x/events', least: 'guest' },
  { method: 'DELETE', path: '/v1/clusters/production/commands/cmd-x', least: 'member' },
  { method: 'POST', path: '/v1/clusters/production/commands/cmd-x/stdin', body: { data: 'x' }, least: 'member' },
  { method: 'POST', path: '/v1/clusters/production/commands/cmd-x/resize', body: RESIZE, least: 'member' },
  { method: 'GET', path: '/v1/clusters/production/logs?pod=web-1&namespace=default', least: 'guest' },
  { method: 'GET', path: '/v1/clusters/production/events', least: 'guest' },
  { method: 'GET', path: '/v1/clusters/production/tunnel-endpoints', least: 'member' },
  { method: 'POST', path: '/v1/clusters/production/tunnel-links', body: { service: 'grafana' }, least: 'member' },
  { method: 'GET', path: '/v1/clusters/production/nodes', least: 'guest' },
  { method: 'GET', path: '/v1/clusters/production/workloads', least: 'guest' },
  { method: 'GET', path: '/v1/clusters/production/pods', least: 'guest' },
  { method: 'DELETE', path: '/v1/clusters/production', least: 'admin' },
];

const RANK = { guest: 0, member: 1, admin: 2 } as const;

describe('refusals of the cluster routes', () => {
  let rig: Rig;
  let stranger: FakeCaller;
  let teamUuid: string;
  const members = new Map<'guest' | 'member' | 'admin', FakeCaller>();
  beforeAll(async () => {
    rig = await startRig();
    await rig.addCluster();
    stranger = rig.access.user('stranger');
    teamUuid = rig.access.team(rig.owner.workspaceUuid);
    for (const role of ['guest', 'member', 'admin'] as const) {
      const caller = rig.access.user(role);
      rig.access.join(teamUuid, caller, role);
      members.set(role, caller);
    }
  });
  afterAll(() => rig.close());

  const withQuery = (path: string, query: string): string => `${path}${path.includes('?') ? '&' : '?'}${query}`;

  for (const { method, path, body, least } of ROUTES) {
    const name = `${method} ${path.split('?')[0]}`;

    it(`${name} returns 401 without a token and with a wrong one`, async () => {
      for (const headers of [{}, { authorization: 'Bearer nonsense' }]) {
        const answer = await rig.call(method, path, { caller: null, body, headers });
        expect(answer.status).toBe(401);
        expect(answer.body).toMatchObject({
          error: {
            code: 'UNAUTHORIZED',
            message: expect.any(String) as string,
            details: { field: 'request', reason: expect.any(String) as string },
          },
        });
      }
    });

    it(`${name} returns 404 to a stranger, in their own workspace and in ours`, async () => {
      if (path !== '/v1/clusters') expect((await rig.call(method, path, { caller: stranger, body })).status).toBe(404);
      const ours = withQuery(path, `workspace_uuid=${rig.owner.workspaceUuid}`);
      const answer = await rig.call(method, ours, { caller: stranger, body });
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ error: { code: expect.any(String) as string } });
    });

    it(`${name} returns 403 to every role below ${least} and to sandbox guests`, async () => {
      const ours = withQuery(path, `workspace_uuid=${rig.owner.workspaceUuid}&team_uuid=${teamUuid}`);
      for (const [role, caller] of members) {
        if (RANK[role] >= RANK[least]) continue;
        expect((await rig.call(method, ours, { caller, body })).status).toBe(403);
      }
      expect((await rig.call(method, path, { caller: rig.access.guest(), body })).status).toBe(403);
    });

    it(`${name} admits ${least}`, async () => {
      const ours = withQuery(path, `workspace_uuid=${rig.owner.workspaceUuid}&team_uuid=${teamUuid}`);
      const caller = members.get(least) ?? null;
      const answer = await rig.call(method, ours, { caller, body });
      expect([200, 201, 202, 204, 404, 503]).toContain(answer.status);
      if (answer.status === 404) expect(JSON.stringify(answer.body)).toMatch(/DEPLOYMENT_NOT_FOUND|COMMAND_NOT_FOUND/);
    });
  }

  it('records every change in the audit log, with the changed resource', () => {
    const changes = rig.audit.entries.filter((entry) => entry.outcome === 'success');
    expect(changes.map((entry) => `${entry.action} ${entry.resource}`)).toEqual(
      expect.arrayContaining(['cluster:create cluster/production', 'cluster:delete cluster/production']) as string[],
    );
  });
});

describe('invalid input to the cluster routes', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
    await rig.addCluster();
  });
  afterAll(() => rig.close());

  const CASES: readonly [string, string, object | undefined, string, number, string][] = [
    ['a deployment without a manifest', 'POST', { project_id: 'p', namespace: 'n' }, '/deploy', 400, 'manifest'],
    ['an unknown field', 'POST', { ...DEPLOY, force: true }, '/deploy', 400, 'force'],
    ['a namespace that is none', 'POST', { ...DEPLOY, namespace: 'No' }, '/deploy', 400, 'namespace'],
    ['a project id that is no label value', 'POST', { ...DEPLOY, project_id: '-x' }, '/deploy', 400, 'project_id'],
    ['no YAML', 'POST', { ...DEPLOY, manifest: 'a: [' }, '/deploy', 400, 'manifest'],
    ['no kind', 'POST', { ...DEPLOY, manifest: 'apiVersion: v1\nmetadata: {name: a}' }, '/deploy', 400, 'manifest'],
    ['an empty manifest', 'POST', { ...DEPLOY, manifest: '---\n---\n' }, '/deploy', 400, 'manifest'],
    ['a manifest above 900 KiB', 'POST', { ...DEPLOY, manifest: '#'.repeat(921_601) }, '/deploy', 413, 'manifest'],
    ['a wait that is no duration', 'POST', DEPLOY, '/deploy?wait=soon', 400, 'wait'],
    ['an exec without a command', 'POST', { ...EXEC, command: [] }, '/exec', 400, 'command'],
    ['input that is no text', 'POST', { data: 7 }, '/commands/cmd-x/stdin', 400, 'data'],
    ['a terminal without rows', 'POST', { rows: 0, cols: 80 }, '/commands/cmd-x/resize', 400, 'rows'],
    ['a cursor of somebody else', 'GET', undefined, '/deployments?cursor=abc', 400, 'cursor'],
    ['a page size of zero', 'GET', undefined, '/deployments?page_size=0', 400, 'page_size'],
    ['a time that is none', 'GET', undefined, '/status?since=yesterday', 400, 'since'],
    ['a number as a time', 'GET', undefined, '/status?since=5', 400, 'since'],
    ['a namespace that is none', 'GET', undefined, '/pods?namespace=No', 400, 'namespace'],
    ['a kind that is none', 'GET', undefined, '/workloads?kind=Pod', 400, 'kind'],
    ['a page that is too large', 'GET', undefined, '/nodes?page_size=500', 400, 'page_size'],
    ['logs of no pod', 'GET', undefined, '/logs?namespace=default', 400, 'pod'],
  ];
  for (const [name, method, body, path, status, field] of CASES) {
    it(`refuses ${name} with ${status} and names ${field}`, async () => {
      const answer = await rig.call(method, `/v1/clusters/production${path}`, { body });
      expect(answer.status).toBe(status);
      expect(answer.body).toMatchObject({ error: { details: { field, reason: expect.any(String) as string } } });
    });
  }

  it('treats a token rotation without a body as one without an overlap', async () => {
    const { headers } = rig.owner;
    const answer = await fetch(`${rig.url}/v1/clusters/production/token`, { method: 'POST', headers });
    expect(answer.status).toBe(200);
    for (const [body, field] of [
      [{ overlap_seconds: -1 }, 'overlap_seconds'],
      [{ overlap: 5 }, 'overlap'],
    ] as const) {
      const refusal = await rig.call('POST', '/v1/clusters/production/token', { body });
      expect(refusal.status).toBe(400);
      expect(refusal.body).toMatchObject({ error: { details: { field } } });
    }
  });

  it("refuses a name that could be another cluster's id", async () => {
    const answer = await rig.call('POST', '/v1/clusters', { body: { name: 'cls-7k2m0123abcd' } });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { code: 'INVALID_REQUEST', details: { field: 'name' } } });
  });

  it('names the parameter that matches nothing', async () => {
    for (const [path, field] of [
      ['/v1/clusters/nowhere', 'cluster'],
      ['/v1/clusters/production/deployments/dep-x', 'id'],
      ['/v1/clusters/production/commands/cmd-x', 'id'],
    ] as const) {
      const answer = await rig.call('GET', path);
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ error: { details: { field, reason: expect.any(String) as string } } });
    }
  });

  it('refuses an idempotency key with control characters', async () => {
    const headers = { 'idempotency-key': 'a b' };
    const answer = await rig.call('POST', '/v1/clusters/production/deploy', { body: DEPLOY, headers });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { details: { field: 'Idempotency-Key' } } });
  });
});
