import { unlimitedQuotas, type Limits } from '@svc/quotas';
import { waitFor, type FakeCaller } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BuildingDriver } from '../support/building-driver.ts';
import { startPlatform, type Answer, type TestPlatform } from '../support/platform.ts';

describe('builds of several owners', () => {
  /** Owners of workspaces; a missing workspace has an owner of its own. */
  const owners = new Map<string, string>();
  let limits: Limits['workspace'] = {};
  let driver: BuildingDriver;
  let platform: TestPlatform;

  beforeEach(async () => {
    owners.clear();
    limits = {};
    driver = new BuildingDriver();
    platform = await startPlatform({
      driver,
      quotaLimits: () => ({
        readLimits: async (workspaceUuid) => ({
          ...(await unlimitedQuotas.readLimits(workspaceUuid)),
          workspace: limits,
        }),
        shareOf: (workspaceUuid) => owners.get(workspaceUuid) ?? workspaceUuid,
      }),
    });
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  const start = (caller: FakeCaller): Promise<Answer> =>
    platform.call('POST', '/api/templates/tools/builds', { caller, body: { from: 'busybox' } });

  it('leave a place for others, however many workspaces of one owner build slowly', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const begun: string[] = [];
    driver.beforeCreate = async ({ id }) => {
      begun.push(id);
      await gate;
    };
    const ofAnn = ['one', 'two', 'three'].map((name) => platform.access.user(`${name}@example.org`));
    for (const { workspaceUuid } of ofAnn) owners.set(workspaceUuid, 'ann');
    const slow = (caller: FakeCaller): Promise<Answer> =>
      platform.call('POST', '/api/templates/tools/builds', { caller, body: { dockerfile: 'FROM busybox\nRUN true' } });
    for (const caller of ofAnn) expect((await slow(caller)).status).toBe(202);
    await waitFor(() => begun.length === 2);
    expect((await slow(platform.owner)).status).toBe(202);
    await waitFor(() => begun.length === 3);
    open();
  });

  it('count while they wait for their plan, also those of E2B clients', async () => {
    limits = { template_builds: 2 };
    const ask = (caller = platform.owner): Promise<Answer> =>
      platform.call('POST', '/e2b/v3/templates', {
        caller: null,
        headers: { 'x-api-key': caller.token },
        body: { name: 'own' },
      });
    expect([(await ask()).status, (await ask()).status]).toEqual([202, 202]);
    const refused = await ask();
    expect(refused.status).toBe(403);
    expect(refused.body['message']).toContain('template_builds');
    expect((await start(platform.owner)).body).toMatchObject({
      code: 'QUOTA_EXCEEDED',
      details: { quota: 'template_builds', scope: 'workspace', limit: 2, current: 2 },
    });
    const other = platform.access.user('other@example.org');
    expect([(await ask(other)).status, (await start(other)).status]).toEqual([202, 202]);
  });
});
