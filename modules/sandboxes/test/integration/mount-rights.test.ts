import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { createMaker, HeldRights, type Action, type Maker } from '@svc/access';
import { createLogger } from '@svc/telemetry';
import { fakeAccess, fakeClock, type FakeCaller } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MountServer } from '../../src/routes/mounts/mount-server.ts';
import { FakeBuckets } from '../support/fake-buckets.ts';

describe('the right of a mount', () => {
  const clock = fakeClock();
  const access = fakeAccess();
  const owner = access.user('owner');
  const team = access.team(owner.workspaceUuid);
  let member: FakeCaller;
  let buckets: FakeBuckets;
  let server: Server;
  let url: string;
  let rights: HeldRights;
  const sandboxes = new Map<string, object>();
  const mount = (id: string, maker: Maker, readOnly: boolean): void => {
    const mounted = { bucket: 'photos', bucketId: 7, prefix: 'a/', path: '/data', readOnly, maker };
    sandboxes.set(id, { workspaceUuid: owner.workspaceUuid, removedAt: null, mounts: [mounted] });
  };

  beforeEach(async () => {
    member = access.user('member');
    access.join(team, member, 'member');
    buckets = new FakeBuckets();
    buckets.ids.set(`${owner.workspaceUuid}/photos`, 7);
    sandboxes.clear();
    mount('sbx', { principalId: member.principal.id, tokenId: null }, false);
    rights = new HeldRights({
      nowMs: () => clock.nowMs(),
      setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
      onError: () => undefined,
    });
    const log = createLogger({ level: 'silent', name: 'test' });
    const repository = { find: async (id: string) => (sandboxes.get(id) ?? null) as never }; // what it reads of one
    const mounts = new MountServer({ repository, access, rights, buckets, clock, log });
    server = createServer((request, response) => {
      const [, id = '', path = ''] = (request.url ?? '').split('/');
      request.url = `/${path}`;
      void mounts.serve(id, 0, request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // of a TCP listener
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const connections = () => promisify(server.getConnections.bind(server))();
  const ask = async (path = 'sbx/lease', signal?: AbortSignal) => {
    const response = await fetch(`${url}/${path}`, signal === undefined ? {} : { signal });
    return [response.status, ((await response.json()) as { errno?: string }).errno];
  };

  it('is that of its creator, in its folder', async () => {
    expect(await ask()).toEqual([200, undefined]);
    expect(buckets.served).toEqual([
      {
        workspaceUuid: owner.workspaceUuid,
        bucketName: 'photos',
        bucketId: 7,
        prefix: 'a/',
        readOnly: false,
        principalId: member.principal.id,
      },
    ]);
    expect(await ask('sbx_gone/lease')).toEqual([404, 'EIO']);
  });

  /** What REST asks for: listing and reading objects, and for a mount that writes, writing and deleting them. */
  const READS = ['object:list', 'object:read'] as const;
  const CHANGES = ['object:write', 'object:delete'] as const;

  it('is, for every role, what REST lets it do with objects', async () => {
    const joined = (role: 'admin' | 'guest'): FakeCaller => {
      const caller = access.user(role);
      access.join(team, caller, role);
      return caller;
    };
    const scoped = (scope: 'read' | 'write' | 'admin') => access.serviceAccount(owner.workspaceUuid, [scope]);
    const gone = scoped('admin');
    access.revoke(gone);
    const roles: Readonly<Record<string, FakeCaller>> = {
      owner,
      admin: joined('admin'),
      member,
      'guest of the team': joined('guest'),
      stranger: access.user('stranger'),
      'guest sign-in': access.guest(),
      'service account that reads': scoped('read'),
      'service account that writes': scoped('write'),
      'service account that administers': scoped('admin'),
      'service account of another workspace': access.serviceAccount(access.user('other').workspaceUuid, ['admin']),
      'service account that was deleted': gone,
    };
    const restLetsIn = async ({ principal, headers }: FakeCaller, action: Action): Promise<boolean> => {
      const { workspaceUuid } = owner;
      const source = { headers, method: 'GET', remoteAddress: '127.0.0.1', isSecure: false };
      const teamUuid = principal.kind === 'user' && principal !== owner.principal ? team : undefined;
      const asked = access
        .authenticate(source)
        .then((known) => access.authorize({ principal: known, action, workspaceUuid, teamUuid }));
      return asked.then(
        () => true,
        () => false,
      );
    };
    const actual: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const [index, [name, caller]] of Object.entries(roles).entries()) {
      mount(`reads-${index}`, createMaker(caller.principal), true);
      mount(`writes-${index}`, createMaker(caller.principal), false);
      const [reading, writing] = [await ask(`reads-${index}/lease`), await ask(`writes-${index}/lease`)];
      actual[name] = { reads: reading[0] === 200, writes: writing[0] === 200 };
      const reads = (await Promise.all(READS.map((action) => restLetsIn(caller, action)))).every(Boolean);
      const changes = (await Promise.all(CHANGES.map((action) => restLetsIn(caller, action)))).every(Boolean);
      expected[name] = { reads, writes: reads && changes };
    }
    expect(actual).toEqual(expected);
    expect(actual).toMatchObject({ 'guest of the team': { reads: true, writes: false }, member: { writes: true } });
  });

  it('is held no longer than that of others for a request that was given up while it was checked', async () => {
    const checked = Promise.withResolvers<boolean>();
    const asked = Promise.withResolvers<void>();
    vi.spyOn(buckets, 'exists').mockImplementationOnce(() => {
      asked.resolve();
      return checked.promise;
    });
    const givenUp = new AbortController();
    const request = ask('sbx/lease', givenUp.signal);
    await asked.promise;
    givenUp.abort();
    await expect(request).rejects.toThrow();
    await vi.waitUntil(async () => (await connections()) === 0, { timeout: 15_000 });
    checked.resolve(true);
    await vi.waitUntil(() => rights.size === 1, { timeout: 15_000 });
    await clock.advance(11_000);
    expect(rights.size).toBe(0);
    expect(buckets.served).toEqual([]);
  });

  it.each([
    ['the member leaves', () => access.leave(team, member), [403, 'EACCES']],
    ['the role is lowered', () => access.join(team, member, 'guest'), [403, 'EACCES']],
    ['the bucket is deleted', () => buckets.ids.clear(), [404, 'EIO']],
    ['another bucket gets its name', () => buckets.ids.set(`${owner.workspaceUuid}/photos`, 8), [404, 'EIO']],
  ])('ends within a second when %s, also for what is under way', async (_what, take, refused) => {
    const response = await fetch(`${url}/sbx/slow`);
    const reader = response.body?.getReader();
    await reader?.read();
    take();
    const cut = expect(reader?.read()).rejects.toThrow();
    await clock.advance(1000);
    await cut;
    expect(await ask()).toEqual(refused);
  });
});
