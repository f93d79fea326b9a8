import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { QuotaLimits } from '@svc/quotas';
import { fakeClock, type FakeAccess, type FakeCaller } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SandboxesConfig } from '../../src/config.ts';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type Answer, type TestPlatform } from '../support/platform.ts';
import { TerminalClient } from '../support/terminal-client.ts';

type Amounts = Record<string, number | null>;

/** Limits that a test changes while the platform runs, for one owner with two workspaces. */
class TestLimits implements QuotaLimits {
  workspace: Amounts = {};
  owner: Amounts = {};
  ownerId = '';
  workspaces: string[] = [];
  isOnlyOwner = false;

  async readLimits(workspaceUuid: string) {
    const { ownerId, workspaces: ownerWorkspaces, isOnlyOwner, workspace, owner } = this;
    return { workspaceUuid, ownerId, ownerWorkspaces, isOnlyOwner, workspace, owner };
  }

  readonly shareOf = (workspaceUuid: string): string => workspaceUuid;
}

describe('sandbox quotas', () => {
  let driver: FakeDriver;
  let platform: TestPlatform;
  let access: FakeAccess;
  let limits: TestLimits;
  let second: FakeCaller;

  const start = async (config: Partial<SandboxesConfig> = {}): Promise<void> => {
    await platform?.dispose();
    const clock = fakeClock();
    limits = new TestLimits();
    platform = await startPlatform({ driver, clock, config, quotaLimits: () => limits });
    access = platform.access;
    second = access.user('second');
    limits.ownerId = platform.owner.principal.id;
    limits.workspaces = [platform.owner.workspaceUuid, second.workspaceUuid];
  };
  const create = (caller?: FakeCaller, body: Record<string, unknown> = {}) =>
    platform.call('POST', '/api/containers', { caller: caller ?? platform.owner, body: { image: 'busybox', ...body } });
  const serviceAccount = () => access.serviceAccount(platform.owner.workspaceUuid, ['write']);

  beforeEach(async () => {
    driver = new FakeDriver();
    await start();
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  it("count sandboxes of service accounts for the workspace's owner, however many accounts there are", async () => {
    await start({ max_per_caller: 2 });
    expect((await create()).status).toBe(201);
    const [one, two] = [serviceAccount(), serviceAccount()];
    expect((await create(one)).status).toBe(201);
    for (const caller of [one, two, platform.owner]) {
      expect(await create(caller)).toMatchObject({
        status: 403,
        body: { code: 'QUOTA_EXCEEDED', details: { scope: 'caller', current: 2, limit: 2 } },
      });
    }
  });

  it("count the rate of service accounts for the workspace's owner, however many accounts there are", async () => {
    await start({ max_creates_per_minute: 2 });
    expect((await create(serviceAccount())).status).toBe(201);
    expect((await create(serviceAccount())).status).toBe(201);
    expect((await create(serviceAccount())).body).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
    expect((await create()).status).toBe(429);
    expect((await create(access.user('another'))).status).toBe(201);
  });

  it('leave room on a node for the next owner, however many are created at once', async () => {
    await start({ max_running: 6 });
    const answers = await Promise.all(
      [platform.owner, second, platform.owner, second, platform.owner].map((caller) => create(caller)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 503)).toHaveLength(2);
    const refused = await create();
    expect(refused).toMatchObject({
      status: 503,
      body: { code: 'NO_CAPACITY', details: { holder: 'owner', held: 3, limit: 6 } },
    });
    expect(refused.body['message']).toContain('ask the operator to raise sandboxes.max_running');
    expect(refused.headers.get('retry-after')).toBe('10');
    const another = access.user('another');
    limits.workspaces = [another.workspaceUuid];
    expect((await create(another)).status).toBe(201);
  });

  it('let an owner without others use a whole node', async () => {
    await start({ max_running: 3 });
    limits.isOnlyOwner = true;
    for (let count = 0; count < 3; count += 1) expect((await create()).status).toBe(201);
    expect(await create()).toMatchObject({ status: 503, body: { details: { holder: 'replica', held: 3, limit: 3 } } });
  });

  it('share the room of a node when a stopped sandbox starts, too', async () => {
    await start({ max_running: 4 });
    const { id } = (await create()).body;
    expect((await platform.call('POST', `/api/containers/${id}/stop`)).status).toBe(200);
    expect([(await create()).status, (await create()).status, (await create()).status]).toEqual([201, 201, 503]);
    expect(await platform.call('POST', `/api/containers/${id}/start`)).toMatchObject({
      status: 503,
      body: { code: 'NO_CAPACITY', details: { holder: 'owner', held: 2, limit: 4 } },
    });
  });

  it('limit the rate of creates of a workspace and of an owner, and leave others theirs', async () => {
    limits.workspace = { creates_per_minute: 2 };
    limits.owner = { creates_per_minute: 3 };
    const team = access.team(platform.owner.workspaceUuid);
    const member = access.user('member');
    access.join(team, member, 'member');
    const scoped = (): Promise<Answer> =>
      platform.call('POST', `/api/containers?team_uuid=${team}&workspace_uuid=${platform.owner.workspaceUuid}`, {
        caller: member,
        body: { image: 'busybox' },
      });
    expect((await create()).status).toBe(201);
    expect((await scoped()).status).toBe(201);
    const refused = await create();
    expect(refused.headers.get('retry-after')).toBe('30');
    expect(refused.body).toMatchObject({
      status: 429,
      code: 'RATE_QUOTA_EXCEEDED',
      message: expect.stringContaining('svc admin quota set'),
      details: { quota: 'creates_per_minute', scope: 'workspace', limit: 2, retry_after_seconds: 30 },
    });
    expect((await create(second)).status).toBe(201);
    expect((await create(second)).body).toMatchObject({ details: { scope: 'owner', limit: 3 } });
    limits.ownerId = 'another owner';
    limits.workspaces = [second.workspaceUuid];
    expect((await create(second)).status).toBe(201);
  });

  it('limit the sum over all callers of a workspace, and name who can raise the limit', async () => {
    limits.workspace = { sandboxes: 2 };
    const team = access.team(platform.owner.workspaceUuid);
    const member = access.user('member');
    access.join(team, member, 'member');
    const path = `/api/containers?workspace_uuid=${platform.owner.workspaceUuid}&team_uuid=${team}`;
    const asMember = () => platform.call('POST', path, { caller: member, body: { image: 'busybox' } });
    expect((await create()).status).toBe(201);
    expect((await asMember()).status).toBe(201);
    const refused = await asMember();
    expect(refused).toMatchObject({
      status: 403,
      body: {
        code: 'QUOTA_EXCEEDED',
        details: { quota: 'sandboxes', scope: 'workspace', current: 2, limit: 2, requested: 1 },
      },
    });
    expect(refused.body['message']).toContain('svc admin quota set');
    const listed = await platform.call('GET', '/api/containers');
    expect(listed.body).toMatchObject({ count: 2, limit: 2 });
  });

  it('limit the sum over all workspaces of an owner, even for concurrent creates', async () => {
    limits.owner = { sandboxes: 3 };
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, index) => create(index % 2 === 0 ? undefined : second)),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(made.find(({ status }) => status === 403)?.body).toMatchObject({ details: { scope: 'owner', limit: 3 } });
  });

  it('apply as soon as they are raised', async () => {
    limits.workspace = { sandboxes: 1 };
    expect((await create()).status).toBe(201);
    expect((await create()).status).toBe(403);
    limits.workspace = { sandboxes: 2 };
    expect((await create()).status).toBe(201);
    limits.workspace = { sandboxes: null };
    expect((await create()).status).toBe(201);
  });

  it('count CPU and memory of running sandboxes: a stopped one restarts only if there is room', async () => {
    limits.workspace = { sandbox_cpus: 1.5 };
    const first = await create(undefined, { resources: { cpu: 1 } });
    expect(await create(undefined, { resources: { cpu: 1 } })).toMatchObject({
      status: 403,
      body: { details: { quota: 'sandbox_cpus', unit: 'cpus', current: 1, requested: 1, limit: 1.5 } },
    });
    const stop = (id: unknown) => platform.call('POST', `/api/containers/${String(id)}/stop`);
    const again = (id: unknown) => platform.call('POST', `/api/containers/${String(id)}/start`);
    await stop(first.body['id']);
    const other = await create(undefined, { resources: { cpu: 1 } });
    expect(other.status).toBe(201);
    expect(await again(first.body['id'])).toMatchObject({ status: 403, body: { code: 'QUOTA_EXCEEDED' } });
    await stop(other.body['id']);
    expect((await again(first.body['id'])).status).toBe(200);
  });

  it('count forks: all of them or none', async () => {
    limits.workspace = { sandboxes: 3 };
    const { body } = await create();
    const fork = (count: number) =>
      platform.call('POST', `/api/containers/${String(body['id'])}/fork`, { body: { count } });
    expect(await fork(3)).toMatchObject({ status: 403, body: { details: { quota: 'sandboxes' } } });
    expect((await platform.call('GET', '/api/containers')).body['count']).toBe(1);
    expect((await fork(2)).status).toBe(201);
  });

  it('count snapshots of all callers', async () => {
    limits.workspace = { snapshots: 1 };
    const { body } = await create();
    const take = (caller: FakeCaller) =>
      platform.call('POST', `/api/containers/${String(body['id'])}/snapshots`, { caller });
    expect((await take(platform.owner)).status).toBe(201);
    expect(await take(serviceAccount())).toMatchObject({
      status: 403,
      body: { code: 'QUOTA_EXCEEDED', details: { quota: 'snapshots', scope: 'workspace', current: 1, limit: 1 } },
    });
  });

  it('count open terminals of all sandboxes, and free the slot when one closes', async () => {
    limits.workspace = { terminals: 1 };
    const ids = [(await create()).body['id'], (await create()).body['id']].map(String);
    const open = (id = '') => TerminalClient.open(platform.url, id, { headers: platform.owner.headers });
    const first = await open(ids[0]);
    await expect(open(ids[1])).rejects.toMatchObject({
      status: 403,
      body: { code: 'QUOTA_EXCEEDED', details: { quota: 'terminals', current: 1, limit: 1 } },
    });
    await first.close();
    await expect.poll(async () => (await platform.module.quotaUsage(limits.workspaces))['terminals'] ?? 0).toBe(0);
    await (await open(ids[1])).close();
  });

  it('use no slot for a terminal whose handshake is refused', async () => {
    limits.workspace = { terminals: 1 };
    const { body } = await create();
    const refused = request(new URL(`/ws/terminal/${body['id']}`, platform.url), {
      headers: {
        ...platform.owner.headers,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
      },
    });
    refused.end();
    const [answer] = (await once(refused, 'response')) as [IncomingMessage]; // node's own event
    answer.resume();
    expect(answer.statusCode).toBe(400); // the key is missing
    await expect.poll(async () => (await platform.module.quotaUsage(limits.workspaces))['terminals'] ?? 0).toBe(0);
  });

  it('report usage of one workspace and of several', async () => {
    await create(undefined, { resources: { cpu: 0.5, memory_mb: 64, disk_mb: 100 } });
    await create(second, { resources: { cpu: 1, memory_mb: 32, disk_mb: 64 } });
    const { quotaUsage } = platform.module;
    expect(await quotaUsage([second.workspaceUuid])).toMatchObject({ sandboxes: 1, sandbox_cpus: 1 });
    expect(await quotaUsage(limits.workspaces)).toEqual({
      sandboxes: 2,
      sandbox_cpus: 1.5,
      sandbox_memory: 96,
      sandbox_disk: 164,
      secrets: 0,
      snapshots: 0,
      templates: 0,
      template_builds: 0,
      terminals: 0,
      volumes: 0,
      webhooks: 0,
    });
  });
});
