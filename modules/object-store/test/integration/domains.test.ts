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
import { startStore, testConfig, type RunningStore } from '../support/running-store.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface Answer {
  status: number;
  body: { success: boolean; message: string; data: Record<string, unknown> };
  text: string;
}

interface CallOptions {
  as?: FakeCaller | null;
  body?: unknown;
  workspace?: string;
}

const DAY_MS = 86_400_000;

describe('custom domains in the management API', () => {
  const clock = fakeClock('2026-03-01T12:00:00.000Z');
  let folder: TemporaryFolder;
  let store: RunningStore;
  let access: FakeAccess;
  let audit: ReturnType<typeof fakeAudit>;
  let app: HttpApp;
  let owner: FakeCaller;

  beforeEach(async () => {
    folder = await temporaryFolder();
    const { custom_domains: domains } = testConfig();
    const config = { custom_domains: { ...domains, domains_per_bucket: 3 } };
    access = fakeAccess();
    store = await startStore(folder.path, { clock, config, rights: access });
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

  async function call(method: Method, path: string, options: CallOptions = {}): Promise<Answer> {
    const caller = options.as === undefined ? owner : options.as;
    const response = await app.inject({
      method,
      url: `/api/v1/workspace/${options.workspace ?? owner.workspaceUuid}/object-store${path}`,
      headers: caller === null ? {} : caller.headers,
      ...(options.body === undefined ? {} : { payload: options.body as object }),
    });
    return { status: response.statusCode, body: response.json(), text: response.body };
  }
  const createBucket = (name = 'photos', options: CallOptions = {}) =>
    call('POST', '/buckets', { ...options, body: { name } });
  const register = (hostname: string, bucket = 'photos', options: CallOptions = {}) =>
    call('POST', '/domains', { ...options, body: { hostname, bucket } });

  it('are rejected before the first bucket exists', async () => {
    for (const answer of [
      await call('GET', '/domains'),
      await register('files.example.com'),
      await call('GET', '/domains/files.example.com/status'),
      await call('DELETE', '/domains/files.example.com'),
      await call('GET', '/buckets/photos/custom-domain'),
      await call('PUT', '/buckets/photos/custom-domain', { body: { hostname: 'files.example.com' } }),
      await call('DELETE', '/buckets/photos/custom-domain'),
    ]) {
      expect(answer).toMatchObject({ status: 409, body: { success: false, data: { code: 'TenantNotProvisioned' } } });
    }
  });

  it('are registered on either route, shown with every field, and removed', async () => {
    await createBucket();
    const created = await register('Files.Example.com');
    const target = String(created.body.data['cname_target']);
    expect(target).toMatch(/^[a-z2-7]{26}\.cname\.s3\.localhost$/);
    const expected = {
      hostname: 'files.example.com',
      bucket: 'photos',
      cname_target: target,
      dns_hint: `Create the DNS record "files.example.com. CNAME ${target}." without a proxy (DNS only)`,
      url: 'https://files.example.com',
      status: 'pending',
      ssl: { status: 'initializing', issuer: null, expires_at: null },
      dns: { status: 'missing', observed: [] },
      created_at: '2026-03-01T12:00:00.000Z',
      verified_at: null,
      last_checked_at: null,
      error: null,
    };
    expect(created.status).toBe(201);
    expect(created.body).toEqual({ success: true, message: 'Custom domain registered', data: expected });
    expect(await register('files.example.com')).toMatchObject({ status: 200, body: { data: expected } });
    const alias = await call('POST', '/buckets/photos/custom-domain', { body: { domain: 'b.example.com' } });
    expect(alias).toMatchObject({ status: 201, body: { data: { hostname: 'b.example.com', cname_target: target } } });
    expect((await call('GET', '/domains?bucket=photos')).body.data).toMatchObject({
      count: 2,
      domains: [{ hostname: 'b.example.com' }, expected],
    });
    expect((await call('GET', '/buckets/photos/custom-domain')).body.data).toMatchObject({
      hostname: 'b.example.com',
      count: 2,
      domains: [{ hostname: 'b.example.com' }, { hostname: 'files.example.com' }],
    });
    const only = await call('PUT', '/buckets/photos/custom-domain', { body: { hostname: 'c.example.com' } });
    expect(only.status).toBe(201);
    expect((await call('GET', '/domains')).body.data).toMatchObject({ domains: [{ hostname: 'c.example.com' }] });
    expect(await call('DELETE', '/domains/c.example.com')).toMatchObject({
      status: 200,
      body: { data: { hostname: 'c.example.com', removed: true } },
    });
    expect(audit.entries.at(-1)).toMatchObject({ action: 'domain:delete', resource: 'domain/c.example.com' });
    expect(await call('GET', '/domains/c.example.com/status')).toMatchObject({
      status: 404,
      body: { data: { code: 'NoSuchDomain' } },
    });
    expect((await call('GET', '/buckets/photos/custom-domain')).body.data).toEqual({
      bucket: 'photos',
      cname_target: target,
      domains: [],
      count: 0,
    });
    expect(await call('DELETE', '/buckets/photos/custom-domain')).toMatchObject({ status: 404 });
  });

  it('reject invalid and reserved hostnames', async () => {
    await createBucket();
    for (const hostname of [
      '*.example.com',
      '192.0.2.7',
      '[2001:db8::7]',
      '2001:db8::7',
      'localhost',
      'photos.s3.localhost',
      's3.localhost',
      'x.cname.s3.localhost',
      'single',
      'a..example.com',
      '-a.example.com',
      'a_b.example.com',
      `${'x'.repeat(64)}.example.com`,
      'example.com/path',
      'https://example.com',
      'example.com:443',
      'user@example.com',
      'exa mple.com',
      '1.2.3.4.5',
      `${'label.'.repeat(50)}example.com`,
    ]) {
      const { status, body } = await register(hostname);
      expect([hostname, status, body.data['code']]).toEqual([hostname, 400, 'InvalidHostname']);
    }
  });

  it('reject bodies with missing, extra or invalid fields', async () => {
    await createBucket();
    const bodies: [unknown, number, string][] = [
      [{ bucket: 'photos' }, 400, 'InvalidArgument'],
      [{ hostname: 'a.example.com' }, 400, 'InvalidRequest'],
      [{ hostname: 'a.example.com', domain: 'b.example.com', bucket: 'photos' }, 400, 'InvalidArgument'],
      [{ hostname: 'a.example.com', bucket: 'photos', more: 1 }, 400, 'InvalidRequest'],
      [{ hostname: 5, bucket: 'photos' }, 400, 'InvalidRequest'],
      [{ hostname: 'a.example.com', bucket: 'absent' }, 404, 'NoSuchBucket'],
    ];
    for (const [body, status, code] of bodies) {
      const answer = await call('POST', '/domains', { body });
      expect(answer).toMatchObject({ status, body: { success: false, data: { code } } });
    }
  });

  it('store internationalized names in ASCII form', async () => {
    await createBucket();
    const { body } = await register('bücher.Example.com.');
    expect(body.data).toMatchObject({ hostname: 'xn--bcher-kva.example.com' });
    const encoded = encodeURIComponent('bücher.example.com');
    expect(await call('DELETE', `/domains/${encoded}`)).toMatchObject({ status: 200 });
  });

  it('are removed one at a time on the bucket route, in any spelling, and never from another bucket', async () => {
    await createBucket();
    await createBucket('second');
    await register('bücher.example.com');
    await register('other.example.com', 'second');
    const remove = (hostname: string) =>
      call('DELETE', `/buckets/photos/custom-domain?hostname=${encodeURIComponent(hostname)}`);
    expect(await remove('other.example.com')).toMatchObject({ status: 404, body: { data: { code: 'NoSuchDomain' } } });
    expect((await remove('Bücher.example.com.')).body.data).toEqual({
      bucket: 'photos',
      removed: ['xn--bcher-kva.example.com'],
    });
    expect((await call('GET', '/domains')).body.data).toMatchObject({ domains: [{ hostname: 'other.example.com' }] });
  });

  it('are limited per bucket', async () => {
    await createBucket();
    for (const name of ['a', 'b', 'c']) await register(`${name}.example.com`);
    expect(await register('d.example.com')).toMatchObject({ status: 400, body: { data: { code: 'TooManyDomains' } } });
  });

  it('belong to the first workspace that registers them, until seven days pass without verification', async () => {
    await createBucket();
    await register('files.example.com');
    const other = access.user('other');
    const asOther = { as: other, workspace: other.workspaceUuid };
    await createBucket('theirs', asOther);
    const taken = await register('files.example.com', 'theirs', asOther);
    expect(taken).toMatchObject({ status: 409, body: { data: { code: 'DomainTaken' } } });
    expect(taken.text).not.toContain('photos');
    expect(taken.text).not.toContain(owner.workspaceUuid);
    await createBucket('second');
    expect((await register('files.example.com', 'second')).body.data).toMatchObject({ bucket: 'photos' });
    for (const [method, path] of [
      ['GET', '/domains/files.example.com/status'],
      ['DELETE', '/domains/files.example.com'],
    ] as const) {
      const answer = await call(method, path, asOther);
      expect(answer).toMatchObject({ status: 404, body: { data: { code: 'NoSuchDomain' } } });
    }
    await clock.advance(7 * DAY_MS);
    const given = await register('files.example.com', 'theirs', asOther);
    expect(given).toMatchObject({ status: 201, body: { data: { bucket: 'theirs' } } });
    expect(await call('GET', '/domains/files.example.com/status')).toMatchObject({ status: 404 });
  });

  it('have one CNAME target per bucket, which does not reveal the bucket', async () => {
    await createBucket('first-of-two');
    await createBucket('second-of-two');
    const targets = [];
    for (const name of ['first-of-two', 'second-of-two', 'first-of-two']) {
      targets.push((await call('GET', `/buckets/${name}/custom-domain`)).body.data['cname_target']);
    }
    expect(targets[0]).toBe(targets[2]);
    expect(targets[0]).not.toBe(targets[1]);
  });

  it('disappear with a soft delete and return on restore', async () => {
    await createBucket();
    await register('files.example.com');
    await call('DELETE', '/buckets/photos');
    expect((await call('GET', '/domains')).body.data).toMatchObject({ count: 0 });
    expect(await call('GET', '/domains/files.example.com/status')).toMatchObject({ status: 404 });
    await call('POST', '/buckets/photos/restore');
    expect((await call('GET', '/domains')).body.data).toMatchObject({ domains: [{ hostname: 'files.example.com' }] });
  });

  it('stay blocked by the operator, even when registered again', async () => {
    await createBucket();
    await register('files.example.com');
    const block = (blocked: boolean) =>
      store.metadata.setDomainBlocked({ hostname: 'files.example.com', blocked, nowMs: clock.nowMs() });
    await block(true);
    const status = () => call('GET', '/domains/files.example.com/status');
    const blocked = { status: 'blocked', ssl: { status: 'deactivated' }, error: { code: 'blocked' } };
    expect((await status()).body.data).toMatchObject(blocked);
    await call('DELETE', '/domains/files.example.com');
    expect((await register('files.example.com')).body.data).toMatchObject(blocked);
    await block(false);
    expect((await status()).body.data).toMatchObject({ status: 'pending', error: null });
  });

  describe('roles', () => {
    const body = { hostname: 'files.example.com' };
    const routes: [Method, string, unknown, 'read' | 'admin'][] = [
      ['GET', '/domains', undefined, 'read'],
      ['GET', '/domains/absent.example.com/status', undefined, 'read'],
      ['GET', '/buckets/photos/custom-domain', undefined, 'read'],
      ['POST', '/domains', { ...body, bucket: 'absent' }, 'admin'],
      ['DELETE', '/domains/absent.example.com', undefined, 'admin'],
      ['PUT', '/buckets/absent/custom-domain', body, 'admin'],
      ['POST', '/buckets/absent/custom-domain', body, 'admin'],
      ['DELETE', '/buckets/absent/custom-domain', undefined, 'admin'],
    ];
    const withBody = (value: unknown) => (value === undefined ? {} : { body: value });

    it('reject callers without a token, with a revoked one, and from outside the workspace', async () => {
      await createBucket();
      const revoked = access.user('revoked');
      access.revoke(revoked);
      const outsider = access.user('outsider');
      for (const [method, path, value] of routes) {
        const options = withBody(value);
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

    it('find nothing for a bucket of another workspace', async () => {
      await createBucket();
      const other = access.user('other');
      const options = { as: other, workspace: other.workspaceUuid };
      await createBucket('theirs', options);
      for (const [method, value] of [
        ['GET', undefined],
        ['PUT', body],
        ['POST', body],
        ['DELETE', undefined],
      ] as const) {
        const answer = await call(method, '/buckets/photos/custom-domain', { ...options, ...withBody(value) });
        expect(answer).toMatchObject({ status: 404, body: { data: { code: 'NoSuchBucket' } } });
      }
      expect(await call('GET', '/domains?bucket=photos', options)).toMatchObject({ status: 404 });
      expect(await register('files.example.com', 'photos', options)).toMatchObject({ status: 404 });
    });

    it('let guests read, and only admins make changes', async () => {
      await createBucket();
      const team = access.team(owner.workspaceUuid);
      const people = (['admin', 'member', 'guest'] as const).map((role) => {
        const caller = access.user(role);
        access.join(team, caller, role);
        return { caller, mayChange: role === 'admin', query: `?team_uuid=${team}` };
      });
      const services = (['read', 'write', 'admin'] as const).map((scope) => ({
        caller: access.serviceAccount(owner.workspaceUuid, [scope]),
        mayChange: scope === 'admin',
        query: '',
      }));
      for (const { caller, mayChange, query } of [...people, ...services]) {
        for (const [method, path, value, needed] of routes) {
          const { status } = await call(method, path + query, { as: caller, ...withBody(value) });
          const allowed = needed === 'read' || mayChange;
          expect([caller.principal.name, method, path, status === 403]).toEqual([
            caller.principal.name,
            method,
            path,
            !allowed,
          ]);
        }
      }
    });
  });
});
