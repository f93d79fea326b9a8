import type { FakeCaller } from '@svc/testing';
import { Sandbox } from 'e2b';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InjectingDriver } from '../support/injecting-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

describe('keys, teams and logs of E2B clients', () => {
  let driver: InjectingDriver;
  let platform: TestPlatform;
  const ask = (method: string, path: string, caller: Pick<FakeCaller, 'token'> | null, more: object = {}) =>
    platform.call(method, `/e2b${path}`, {
      caller: null,
      headers: caller === null ? {} : { 'x-api-key': caller.token },
      ...more,
    });
  const create = (caller: Pick<FakeCaller, 'token'> = platform.owner) =>
    Sandbox.create('busybox', { apiUrl: `${platform.url}/e2b`, apiKey: caller.token, validateApiKey: false });

  beforeEach(async () => {
    driver = new InjectingDriver();
    platform = await startPlatform({ driver });
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  describe('keys', () => {
    it('are created, used, renamed, listed without their secret, and revoked', async () => {
      const { status, body, headers } = await ask('POST', '/api-keys', platform.owner, { body: { name: 'agents' } });
      expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
      const { id, key, mask } = body;
      expect(body).toMatchObject({ name: 'agents', createdBy: { id: platform.owner.principal.id, email: null } });
      expect(mask).toMatchObject({ prefix: 'e2b_', maskedValueSuffix: key.slice(-4) });
      expect((await ask('GET', '/v2/sandboxes', { token: key })).status).toBe(200);
      expect((await ask('PATCH', `/api-keys/${id}`, platform.owner, { body: { name: 'other' } })).status).toBe(200);
      const listed = await ask('GET', '/api-keys', platform.owner);
      expect(listed.body).toMatchObject([{ id, name: 'other', lastUsed: null, mask: { valueLength: 0 } }]);
      expect(JSON.stringify(listed.body)).not.toContain(key);
      expect((await ask('DELETE', `/api-keys/${id}`, platform.owner)).status).toBe(204);
      expect((await ask('DELETE', `/api-keys/${id}`, platform.owner)).status).toBe(404);
      expect((await ask('GET', '/v2/sandboxes', { token: key })).status).toBe(401);
      const audited = platform.audit.entries.map(({ action, resource }) => [action, resource]);
      expect(audited.slice(0, 3)).toEqual([
        ['service-account:create', `service-account/${id}`],
        ['service-account:update', `service-account/${id}`],
        ['service-account:delete', `service-account/${id}`],
      ]);
    });

    it('are managed by admins of their workspace only', async () => {
      const { id, key } = (await ask('POST', '/api-keys', platform.owner, { body: { name: 'agents' } })).body;
      const attempts = [
        ['GET', '/api-keys'],
        ['POST', '/api-keys', { name: 'x' }],
        ['PATCH', `/api-keys/${id}`, { name: 'x' }],
        ['DELETE', `/api-keys/${id}`],
      ] as const;
      const { workspaceUuid } = platform.owner;
      const reader = platform.access.serviceAccount(workspaceUuid, ['read']);
      for (const [method, path, body] of attempts) {
        const more = body === undefined ? {} : { body };
        expect((await ask(method, path, null, more)).status, `${method} without a key`).toBe(401);
        expect((await ask(method, path, reader, more)).status, `${method} by a reader`).toBe(403);
        expect((await ask(method, path, { token: key }, more)).status, `${method} by the key`).toBe(403);
        expect((await ask(method, path, platform.access.guest(), more)).status, `${method} by a guest`).toBe(403);
        const headers = { 'x-api-key': platform.owner.token, 'x-team-id': 'another' };
        expect((await ask(method, path, null, { ...more, headers })).status, `${method} in another team`).toBe(404);
      }
      const stranger = platform.access.user('stranger');
      expect((await ask('GET', '/api-keys', stranger)).body).toEqual([]);
      expect((await ask('PATCH', `/api-keys/${id}`, stranger, { body: { name: 'x' } })).status).toBe(404);
      expect((await ask('DELETE', `/api-keys/${id}`, stranger)).status).toBe(404);
      expect((await ask('GET', '/api-keys', platform.access.serviceAccount(workspaceUuid, ['admin']))).body).toEqual([
        expect.objectContaining({ id, name: 'agents' }),
      ]);
    });

    it.each([{}, { name: '' }, { name: ' ' }, { name: 'a\nb' }, { name: 'a'.repeat(101) }])(
      'have no such name: %j',
      async (body) => {
        expect((await ask('POST', '/api-keys', platform.owner, { body })).status).toBe(400);
      },
    );
  });

  describe('logs', () => {
    it('are the events of a sandbox, in both directions, by time, level and content', async () => {
      const sandbox = await create();
      await sandbox.pause();
      const path = `/v2/sandboxes/${sandbox.sandboxId}/logs`;
      const messages = async (query = '') => {
        const { logs } = (await ask('GET', `${path}${query}`, platform.owner)).body;
        return logs.map(({ message }: { message: string }) => message);
      };
      const all = ['The sandbox was created', 'The sandbox is running', 'The sandbox was paused'];
      expect(await messages()).toEqual(all);
      expect(await messages('?direction=backward')).toEqual(all.toReversed());
      expect(await messages('?limit=1')).toEqual(all.slice(0, 1));
      expect(await messages('?limit=0')).toEqual([]);
      expect(await messages('?direction=backward&limit=1')).toEqual(all.slice(2));
      expect(await messages('?search=running')).toEqual(all.slice(1, 2));
      expect(await messages('?level=warn')).toEqual([]);
      const later = Date.now() + 60_000;
      expect(await messages(`?cursor=${later}`)).toEqual([]);
      expect(await messages(`?cursor=${later}&direction=backward`)).toEqual(all.toReversed());
      const older = (await ask('GET', `/sandboxes/${sandbox.sandboxId}/logs`, platform.owner)).body;
      expect(older['logEntries'][0]).toMatchObject({ level: 'info', message: all[0], fields: { type: 'created' } });
      expect(JSON.parse(older['logs'][0].line)).toMatchObject({ level: 'info', logger: 'svc', message: all[0] });
      for (const wrong of ['?limit=1001', '?direction=up', '?level=fatal', '?cursor=-1']) {
        expect((await ask('GET', `${path}${wrong}`, platform.owner)).status, wrong).toBe(400);
      }
    });

    it('are read in the workspace of the sandbox only', async () => {
      const { sandboxId } = await create();
      const reader = platform.access.serviceAccount(platform.owner.workspaceUuid, ['read']);
      for (const path of [`/v2/sandboxes/${sandboxId}/logs`, `/sandboxes/${sandboxId}/logs`]) {
        expect((await ask('GET', path, null)).status).toBe(401);
        expect((await ask('GET', path, platform.access.user('stranger'))).status).toBe(404);
        expect((await ask('GET', path, reader)).status).toBe(200);
      }
      expect((await ask('GET', '/v2/sandboxes/unknown/logs', platform.owner)).status).toBe(404);
    });
  });

  describe('teams', () => {
    it('have metrics of what ran and started', async () => {
      const { teamID } = (await ask('GET', '/teams', platform.owner)).body[0];
      const [first] = await Promise.all([create(), create()]);
      await first.kill();
      const steps = (await ask('GET', `/teams/${teamID}/metrics`, platform.owner)).body;
      expect(steps).toHaveLength(120);
      expect(steps[119]).toMatchObject({ concurrentSandboxes: 2, sandboxStartRate: 2 / 30 });
      const most = async (query: string) =>
        (await ask('GET', `/teams/${teamID}/metrics/max?metric=${query}`, platform.owner)).body['value'];
      expect(await most('concurrent_sandboxes')).toBe(2);
      expect(await most('sandbox_start_rate')).toBe(2 / 30);
      expect(await most('concurrent_sandboxes&start=0&end=100')).toBe(0);
      for (const wrong of ['metrics?start=9&end=3', 'metrics/max', 'metrics/max?metric=other']) {
        expect((await ask('GET', `/teams/${teamID}/${wrong}`, platform.owner)).status, wrong).toBe(400);
      }
    });

    it('are workspaces of the caller', async () => {
      const { workspaceUuid } = platform.owner;
      for (const path of ['metrics', 'metrics/max?metric=concurrent_sandboxes']) {
        const ofTeam = `/teams/${workspaceUuid}/${path}`;
        expect((await ask('GET', ofTeam, null)).status).toBe(401);
        expect((await ask('GET', ofTeam, platform.access.user('stranger'))).status).toBe(404);
        const reader = platform.access.serviceAccount(workspaceUuid, ['read']);
        expect((await ask('GET', ofTeam, reader)).status).toBe(200);
        expect((await ask('GET', `/teams/unknown/${path}`, platform.owner)).status).toBe(404);
      }
      expect((await ask('GET', '/teams', null)).status).toBe(401);
    });
  });
});
