import type { FakeCaller } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { TerminalClient } from '../support/terminal-client.ts';

/** Method, path and kind of access; a guest of the team may only read. */
const ROUTES = [
  ['GET', '', 'read'],
  ['POST', '', 'write'],
  ['GET', '/:id', 'read'],
  ['POST', '/:id/start', 'write'],
  ['POST', '/:id/stop', 'write'],
  ['POST', '/:id/pause', 'write'],
  ['POST', '/:id/resume', 'write'],
  ['POST', '/:id/snapshots', 'write'],
  ['POST', '/:id/fork', 'write'],
  ['DELETE', '/:id', 'write'],
  ['POST', '/:id/terminal/tickets', 'write'],
  ['GET', '/:id/files/list', 'read'],
  ['GET', '/:id/files/stat?path=/x', 'read'],
  ['GET', '/:id/files?path=/x', 'read'],
  ['POST', '/:id/files?path=/x', 'write'],
  ['POST', '/:id/files/mkdir?path=/x', 'write'],
  ['POST', '/:id/files/move', 'write'],
  ['DELETE', '/:id/files?path=/x', 'write'],
  ['GET', '/:id/files?path=/x&archive=tar', 'read'],
  ['PUT', '/:id/files/archive?path=/x', 'write'],
  ['GET', '/:id/files/watch?path=/x', 'read'],
  ['POST', '/:id/ports', 'write'],
  ['GET', '/:id/ports', 'read'],
  ['DELETE', '/:id/ports', 'write'],
  ['DELETE', '/:id/ports/8080', 'write'],
  ['POST', '/:id/exec', 'write'],
  ['GET', '/:id/terminals', 'read'],
  ['GET', '/:id/events?format=json', 'read'],
  ['GET', '/:id/metrics', 'read'],
  ['DELETE', '/:id/terminals/main', 'write'],
] as const;

function withQuery(path: string, query: string): string {
  return path.includes('?') ? `${path}${query.replace('?', '&')}` : `${path}${query}`;
}

function bodyOf(method: string, path: string): { body?: unknown } {
  if (method === 'POST' && path === '') return { body: { image: 'busybox' } };
  if (path.endsWith('/exec')) return { body: { command: 'exit 0' } };
  if (method === 'POST' && path.endsWith('/ports')) return { body: { port: 8080 } };
  return path.endsWith('/move') ? { body: { path: '/a', target: '/b' } } : {};
}

describe('sandbox routes without access', () => {
  const driver = new FakeDriver();
  let platform: TestPlatform;
  let id: string;
  let stranger: FakeCaller;
  let guest: FakeCaller;
  let team: string;

  beforeAll(async () => {
    platform = await startPlatform({ driver });
    id = (await platform.call('POST', '/api/containers', { body: { image: 'busybox' } })).body['id'];
    stranger = platform.access.user('stranger@example.org');
    guest = platform.access.user('guest@example.org');
    team = platform.access.team(platform.owner.workspaceUuid);
    platform.access.join(team, guest, 'guest');
  });
  afterAll(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  const call = (method: string, prefix: string, path: string, caller: FakeCaller | null, query = '') =>
    platform.call(method, withQuery(`${prefix}${path.replace(':id', id)}`, query), {
      caller,
      ...bodyOf(method, path),
    });

  for (const prefix of ['/api/containers', '/api/sandboxes']) {
    describe.each(ROUTES)(`%s ${prefix}%s`, (method, path, kind) => {
      it('refuses a caller without a token', async () => {
        expect((await call(method, prefix, path, null)).status).toBe(401);
      });

      it('refuses a wrong token', async () => {
        const wrong = { ...stranger, headers: { authorization: 'Bearer nobody' } };
        expect((await call(method, prefix, path, wrong)).status).toBe(401);
      });

      it('hides a foreign workspace and its contents', async () => {
        const query = `?workspace_uuid=${platform.owner.workspaceUuid}`;
        expect((await call(method, prefix, path, stranger, query)).status).toBe(404);
        if (path.includes(':id')) expect((await call(method, prefix, path, stranger)).status).toBe(404);
      });

      it('lets a guest of the team only read', async () => {
        const query = `?workspace_uuid=${platform.owner.workspaceUuid}&team_uuid=${team}`;
        expect((await call(method, prefix, path, guest, query)).status).toBe(kind === 'read' ? 200 : 403);
      });
    });
  }

  it('refuses the catalog without a token', async () => {
    expect((await platform.call('GET', '/api/images', { caller: null })).status).toBe(401);
  });

  it('returns the same for a malformed, unknown or foreign id', async () => {
    const foreign = await platform.call('GET', `/api/containers/${id}`, { caller: stranger });
    const unknown = await platform.call('GET', `/api/containers/sbx_${'a'.repeat(26)}`, { caller: stranger });
    const malformed = await platform.call('GET', '/api/containers/..%2f..', { caller: stranger });
    const withoutId = ({ body }: { body: Record<string, unknown> }) => ({ ...body, request_id: '' });
    expect(withoutId(foreign)).toEqual(withoutId(unknown));
    expect(withoutId(malformed)).toEqual(withoutId(unknown));
  });

  describe('terminals', () => {
    const open = (options: Parameters<typeof TerminalClient.open>[2] = {}) =>
      TerminalClient.open(platform.url, id, options);

    it('refuse a missing or wrong token, a foreign sandbox, and a guest of the team', async () => {
      await expect(open()).rejects.toMatchObject({ status: 401 });
      await expect(open({ headers: { authorization: 'Bearer nobody' } })).rejects.toMatchObject({ status: 401 });
      await expect(open({ headers: stranger.headers })).rejects.toMatchObject({ status: 404 });
      const query = `?workspace_uuid=${platform.owner.workspaceUuid}&team_uuid=${team}`;
      await expect(open({ headers: guest.headers, query })).rejects.toMatchObject({ status: 403 });
    });

    it('accept the token as a subprotocol, because browsers cannot send headers', async () => {
      const bearer = `bearer.${Buffer.from(platform.owner.token).toString('base64url')}`;
      const terminal = await open({ protocols: ['sandbox.v1', bearer] });
      expect(terminal.socket.protocol).toBe('sandbox.v1');
      await terminal.close();
    });

    it('accept the subprotocol form of existing clients, and return no token', async () => {
      const token = `rexec.token.${platform.owner.token}`;
      for (const protocols of [
        ['rexec.v1', token],
        [token, 'rexec.v1'],
      ]) {
        const terminal = await open({ protocols });
        expect(terminal.socket.protocol).toBe('rexec.v1');
        await terminal.close();
      }
      await expect(open({ protocols: ['rexec.v1', 'rexec.token.nobody'] })).rejects.toMatchObject({ status: 401 });
    });

    it('refuse a page of another site', async () => {
      const bearer = `bearer.${Buffer.from(platform.owner.token).toString('base64url')}`;
      const from = (origin: string) => open({ protocols: ['sandbox.v1', bearer], headers: { origin } });
      await expect(from('https://evil.example')).rejects.toMatchObject({
        status: 403,
        body: { code: 'ORIGIN_REFUSED' },
      });
      await (await from(platform.url)).close();
    });

    it('accept a ticket once, and only for its sandbox', async () => {
      const { body, status } = await platform.call('POST', `/api/containers/${id}/terminal/tickets`);
      expect(status).toBe(201);
      const query = `?ticket=${body['ticket']}`;
      await (await open({ query })).close();
      await expect(open({ query })).rejects.toMatchObject({ status: 401 });
      const other = (await platform.call('POST', '/api/containers', { body: { image: 'busybox' } })).body['id'];
      const foreign = (await platform.call('POST', `/api/containers/${other}/terminal/tickets`)).body['ticket'];
      await expect(open({ query: `?ticket=${foreign}` })).rejects.toMatchObject({ status: 401 });
    });

    it('record in the audit log who opened one', async () => {
      await (await open({ headers: platform.owner.headers })).close();
      expect(platform.audit.entries.at(-1)).toMatchObject({
        action: 'sandbox:exec',
        resource: `sandbox/${id}`,
        principal: { id: platform.owner.principal.id },
      });
    });
  });
});
