import { randomUUID } from 'node:crypto';
import { createHttpApp, type HttpApp } from '@svc/http';
import { createLogger, createMetrics } from '@svc/telemetry';
import {
  fakeAccess,
  fakeAudit,
  fakeClock,
  temporaryFolder,
  type FakeAccess,
  type FakeCaller,
  type TemporaryFolder,
} from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendRaw, signed } from '../support/raw-request.ts';
import { startStore, type RunningStore } from '../support/running-store.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface Answer {
  status: number;
  body: { success: boolean; message: string; data: Record<string, unknown> & { code?: string } };
  text: string;
}

describe('the management API', () => {
  const clock = fakeClock('2026-03-01T12:00:00.000Z');
  let folder: TemporaryFolder;
  let store: RunningStore;
  let access: FakeAccess;
  let audit: ReturnType<typeof fakeAudit>;
  let app: HttpApp;
  let owner: FakeCaller;

  beforeEach(async () => {
    folder = await temporaryFolder();
    access = fakeAccess();
    store = await startStore(folder.path, { clock, rights: access });
    audit = fakeAudit();
    owner = access.user('owner');
    const log = createLogger({ level: 'silent', name: 'test' });
    app = await createHttpApp({ log, metrics: createMetrics(), access, audit, version: '0' });
    await store.module.registerRoutes(app);
    await app.ready();
  });
  afterEach(async () => {
    await app.close();
    await store.close();
    await folder.remove();
  });

  async function call(
    method: Method,
    path: string,
    options: { as?: FakeCaller | null; body?: unknown; workspace?: string } = {},
  ): Promise<Answer> {
    const caller = options.as === undefined ? owner : options.as;
    const response = await app.inject({
      method,
      url: `/api/v1/workspace/${options.workspace ?? owner.workspaceUuid}/object-store${path}`,
      headers: caller === null ? {} : caller.headers,
      ...(options.body === undefined ? {} : { payload: options.body as object }),
    });
    return { status: response.statusCode, body: response.json(), text: response.body };
  }
  const createBucket = (name = 'photos') => call('POST', '/buckets', { body: { name } });
  const createKey = (body: object = {}, as: FakeCaller = owner, team = '') =>
    call('POST', `/keys${team}`, { body, as });

  it('shows the status before and after the first bucket', async () => {
    const before = await call('GET', '');
    expect(before).toMatchObject({
      status: 200,
      body: {
        success: true,
        data: {
          enabled: true,
          tenant_id: owner.workspaceUuid,
          s3_endpoint: store.endpoint,
          provisioned: false,
          usage: { buckets: 0 },
        },
      },
    });
    await createBucket();
    expect((await call('GET', '')).body.data).toMatchObject({
      provisioned: true,
      usage: { buckets: 1, size_bytes: 0 },
    });
  });

  it('rejects keys before the first bucket exists', async () => {
    for (const answer of [
      await createKey(),
      await call('GET', '/keys'),
      await call('DELETE', '/keys', { body: { accessKeyId: 'tid_x' } }),
    ]) {
      expect(answer).toMatchObject({ status: 409, body: { success: false, data: { code: 'TenantNotProvisioned' } } });
    }
  });

  it('creates a bucket under a normalized name and lists it', async () => {
    const created = await createBucket('My Photos!');
    expect(created).toMatchObject({
      status: 201,
      body: {
        success: true,
        data: {
          name: 'my-photos',
          region: 'auto',
          encryption_mode: 'sse-s3',
          versioning: 'unversioned',
          publicDefault: false,
          object_count: 0,
          size_bytes: 0,
          custom_domains: [],
          state: 'active',
          soft_delete: { enabled: true, retention_days: 7 },
        },
      },
    });
    expect((await call('GET', '/buckets')).body.data).toMatchObject({ count: 1, buckets: [{ name: 'my-photos' }] });
    expect(audit.entries.at(-1)).toMatchObject({
      action: 'bucket:create',
      resource: 'bucket/My Photos!',
      outcome: 'success',
    });
  });

  it.each<[unknown, number, string]>([
    [{ name: 'ab' }, 400, 'InvalidBucketName'],
    [{ name: '!!!' }, 400, 'InvalidBucketName'],
    [{ name: 'x'.repeat(64) }, 400, 'InvalidBucketName'],
    [{}, 400, 'InvalidRequest'],
    [{ name: 'fine', extra: 1 }, 400, 'InvalidRequest'],
    [{ name: 5 }, 400, 'InvalidRequest'],
    [{ name: 'fine', encryption_mode: 'rot13' }, 400, 'InvalidRequest'],
    [{ name: 'fine', encryption_mode: 'sse-kms' }, 400, 'InvalidRequest'],
  ])('rejects the bucket %o', async (body, status, code) => {
    const answer = await call('POST', '/buckets', { body });
    expect(answer).toMatchObject({ status, body: { success: false, data: { code } } });
    expect(answer.body.data).toHaveProperty('request_id');
    expect(answer.body.data).toHaveProperty('details');
  });

  it('reports a taken name without revealing its owner to other workspaces', async () => {
    await createBucket();
    expect(await createBucket()).toMatchObject({ status: 409, body: { data: { code: 'BucketAlreadyOwnedByYou' } } });
    const other = access.user('other');
    const answer = await call('POST', '/buckets', {
      as: other,
      workspace: other.workspaceUuid,
      body: { name: 'photos' },
    });
    expect(answer).toMatchObject({ status: 409, body: { data: { code: 'BucketAlreadyExists' } } });
    expect(answer.text).not.toContain(owner.workspaceUuid);
  });

  it('soft-deletes a bucket, reserves its name, restores it, and purges it when its retention ends', async () => {
    await createBucket();
    const deleted = await call('DELETE', '/buckets/photos');
    expect(deleted).toMatchObject({
      status: 200,
      body: {
        data: {
          name: 'photos',
          state: 'soft-deleted',
          deleted_at: '2026-03-01T12:00:00.000Z',
          purge_at: '2026-03-08T12:00:00.000Z',
        },
      },
    });
    expect((await call('GET', '/buckets')).body.data).toMatchObject({ count: 0 });
    expect((await call('GET', '/buckets/deleted')).body.data).toMatchObject({
      count: 1,
      buckets: [{ name: 'photos' }],
    });
    expect(await createBucket()).toMatchObject({
      status: 409,
      body: { data: { code: 'BucketAlreadyExists', soft_deleted: true } },
    });
    expect(await call('DELETE', '/buckets/photos')).toMatchObject({
      status: 404,
      body: { data: { code: 'NoSuchBucket' } },
    });
    expect(await call('POST', '/buckets/photos/restore')).toMatchObject({
      status: 200,
      body: { data: { state: 'active' } },
    });
    expect(await call('POST', '/buckets/photos/restore')).toMatchObject({
      status: 409,
      body: { data: { code: 'InvalidBucketState' } },
    });
    await call('DELETE', '/buckets/photos');
    await clock.advance(8 * 86_400_000);
    expect(await call('POST', '/buckets/photos/restore')).toMatchObject({ status: 404 });
    await store.module.maintain();
    expect(await createBucket()).toMatchObject({ status: 201 });
  });

  describe('access keys', () => {
    beforeEach(async () => {
      await createBucket();
    });

    it('return the secret once and work immediately', async () => {
      const created = await createKey();
      expect(created).toMatchObject({
        status: 201,
        body: {
          data: {
            s3_endpoint: store.endpoint,
            region: 'auto',
            tenant_id: owner.workspaceUuid,
            key: { permissions: ['read', 'write'], buckets: ['*'], label: 'dashboard' },
          },
        },
      });
      const key = created.body.data as { accessKeyId: string; secretAccessKey: string };
      expect(key.accessKeyId).toMatch(/^tid_[0-9A-Za-z]{22}$/);
      expect(key.secretAccessKey).toMatch(/^tsec_[0-9A-Za-z]{40}$/);
      const listed = await call('GET', '/keys');
      expect(listed.text).not.toContain('tsec_');
      expect(listed.body.data).toMatchObject({
        count: 1,
        keys: [
          { accessKeyId: key.accessKeyId, label: 'dashboard', created_by: owner.principal.id, last_used_at: null },
        ],
      });
      const request = () =>
        sendRaw(
          store.endpoint,
          signed({ target: '/photos?list-type=2' }, { key, host: new URL(store.endpoint).host, nowMs: clock.nowMs() }),
        );
      expect((await request()).status).toBe(200);
      await store.module.maintain();
      expect((await call('GET', '/keys')).body.data).toMatchObject({
        keys: [{ last_used_at: clock.now().toISOString() }],
      });
      expect(await call('DELETE', '/keys', { body: { accessKeyId: key.accessKeyId } })).toMatchObject({ status: 200 });
      expect(await request()).toMatchObject({ status: 403, code: 'InvalidAccessKeyId' });
      expect(await call('DELETE', '/keys', { body: { accessKeyId: key.accessKeyId } })).toMatchObject({
        status: 404,
        body: { data: { code: 'NoSuchAccessKey' } },
      });
      expect(JSON.stringify(audit.entries)).not.toContain('tsec_');
    });

    it.each<[object, object]>([
      [{ permissions: ['read'] }, { permissions: ['read'], buckets: ['*'], role: 'ReadOnly' }],
      [{ permissions: ['admin'] }, { permissions: ['admin'], buckets: ['*'], role: 'NamespaceAdmin' }],
      [
        { permissions: ['read'], buckets: ['photos'] },
        { permissions: ['read'], buckets: ['photos'], role: 'ReadOnly' },
      ],
      [
        { permissions: ['write'], buckets: ['photos'] },
        { permissions: ['read', 'write'], buckets: ['photos'], role: 'Editor' },
      ],
      [
        { permissions: ['read', 'write', 'admin'], buckets: ['photos'] },
        { permissions: ['read', 'write'], buckets: ['photos'], role: 'Editor' },
      ],
      [
        { buckets: [], label: 'all' },
        { permissions: ['read', 'write'], buckets: ['*'], role: 'Editor', label: 'all' },
      ],
    ])('%o become %o', async (body, expected) => {
      expect((await createKey(body)).body.data['key']).toMatchObject(expected);
    });

    it.each<[object, number, string]>([
      [{ buckets: ['no-such'] }, 404, 'NoSuchBucket'],
      [{ permissions: [] }, 400, 'InvalidRequest'],
      [{ permissions: ['root'] }, 400, 'InvalidRequest'],
      [{ unknown: true }, 400, 'InvalidRequest'],
      [{ expires_at: '2020-01-01T00:00:00Z' }, 400, 'InvalidArgument'],
    ])('rejects %o', async (body, status, code) => {
      expect(await createKey(body)).toMatchObject({ status, body: { success: false, data: { code } } });
    });

    it('cannot name a bucket of another workspace', async () => {
      const other = access.user('other');
      await call('POST', '/buckets', { as: other, workspace: other.workspaceUuid, body: { name: 'theirs' } });
      expect(await createKey({ buckets: ['theirs'] })).toMatchObject({
        status: 404,
        body: { data: { code: 'NoSuchBucket' } },
      });
    });

    it('have no policies, and the error names the alternative', async () => {
      for (const [method, path] of [
        ['GET', '/keys/policy'],
        ['POST', '/keys/policy/attach'],
        ['DELETE', '/keys/policy/a/b'],
      ] as const) {
        const answer = await call(method, path, method === 'POST' ? { body: {} } : {});
        expect(answer).toMatchObject({ status: 501, body: { data: { code: 'NotImplemented' } } });
        expect(answer.text).toContain('buckets');
      }
    });
  });

  describe('roles', () => {
    const routes: [Method, string, unknown, 'read' | 'member' | 'admin'][] = [
      ['GET', '', undefined, 'read'],
      ['GET', '/buckets', undefined, 'read'],
      ['GET', '/buckets/deleted', undefined, 'read'],
      ['GET', '/keys', undefined, 'member'],
      ['POST', '/buckets', { name: 'made-by-a-test' }, 'member'],
      ['POST', '/buckets/absent/fork', undefined, 'member'],
      ['GET', '/buckets/absent/fork', undefined, 'read'],
      ['POST', '/keys', {}, 'member'],
      ['DELETE', '/keys', { accessKeyId: 'tid_absent' }, 'member'],
      ['DELETE', '/buckets/absent', undefined, 'admin'],
      ['POST', '/buckets/absent/restore', undefined, 'admin'],
    ];

    it('reject callers without a token, with a revoked one, and from outside the workspace', async () => {
      const revoked = access.user('revoked');
      access.revoke(revoked);
      const outsider = access.user('outsider');
      for (const [method, path, body] of routes) {
        const options = body === undefined ? {} : { body };
        expect(await call(method, path, { ...options, as: null })).toMatchObject({
          status: 401,
          body: { success: false },
        });
        expect(await call(method, path, { ...options, as: revoked })).toMatchObject({ status: 401 });
        expect(await call(method, path, { ...options, as: outsider })).toMatchObject({ status: 404 });
        expect(await call(method, path, { ...options, workspace: randomUUID() })).toMatchObject({ status: 404 });
        expect(await call(method, path, { ...options, as: access.guest() })).toMatchObject({ status: 404 });
      }
    });

    it('grant team members and service accounts what the table lists', async () => {
      await createBucket('team-bucket');
      const team = access.team(owner.workspaceUuid);
      const people = (['admin', 'member', 'guest'] as const).map((role) => {
        const caller = access.user(role);
        access.join(team, caller, role);
        return [role, caller] as const;
      });
      const services = (['read', 'write', 'admin'] as const).map(
        (scope) => [`sat ${scope}`, access.serviceAccount(owner.workspaceUuid, [scope])] as const,
      );
      const ranks: Record<string, number> = {
        guest: 0,
        'sat read': 0,
        member: 1,
        'sat write': 1,
        admin: 2,
        'sat admin': 2,
      };
      const needs = { read: 0, member: 1, admin: 2 };
      for (const [name, caller] of [...people, ...services]) {
        for (const [method, path, body, needed] of routes) {
          const query = name.startsWith('sat') ? '' : `?team_uuid=${team}`;
          const answer = await call(method, path + query, { as: caller, ...(body === undefined ? {} : { body }) });
          const expected = (ranks[name] ?? 0) >= needs[needed] ? 'allowed' : 'refused';
          expect([name, method, path, answer.status === 403 ? 'refused' : 'allowed']).toEqual([
            name,
            method,
            path,
            expected,
          ]);
          if (!name.startsWith('sat'))
            expect((await call(method, path, { as: caller, ...(body === undefined ? {} : { body }) })).status).toBe(
              404,
            );
        }
      }
    });

    it('let members create keys for themselves, but no admin keys, and revoke only their own', async () => {
      await createBucket('team-bucket');
      const team = access.team(owner.workspaceUuid);
      const member = access.user('member');
      access.join(team, member, 'member');
      const query = `?team_uuid=${team}`;
      expect(await createKey({ permissions: ['admin'] }, member, query)).toMatchObject({
        status: 403,
        body: { data: { code: 'AccessDenied' } },
      });
      expect(
        await createKey({ permissions: ['admin'] }, access.serviceAccount(owner.workspaceUuid, ['write'])),
      ).toMatchObject({ status: 403 });
      const own = (await createKey({}, member, query)).body.data['accessKeyId'];
      const others = (await createKey()).body.data['accessKeyId'];
      const revoke = (accessKeyId: unknown) => call('DELETE', `/keys${query}`, { as: member, body: { accessKeyId } });
      expect((await call('GET', `/keys${query}`, { as: member })).body.data).toMatchObject({
        count: 1,
        keys: [{ accessKeyId: own }],
      });
      expect((await call('GET', '/keys')).body.data).toMatchObject({ count: 2 });
      expect(await revoke(others)).toMatchObject({ status: 404 });
      expect(await revoke(own)).toMatchObject({ status: 200 });
    });
  });
});
