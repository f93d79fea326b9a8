import { createHttpApp } from '@svc/http';
import { createLogger, createMetrics } from '@svc/telemetry';
import { fakeAccess, fakeAudit } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startManagement, type Answer, type RunningManagement } from '../support/running-management.ts';
import { testConfig } from '../support/running-store.ts';
import { registerDisabledManagement } from '../../src/routes/index.ts';

const DAY_MS = 86_400_000;

describe('buckets in the management API', () => {
  let management: RunningManagement;
  beforeEach(async () => {
    management = await startManagement({ trash_grace_seconds: 0 });
  });
  afterEach(() => management.close());

  const create = (name: string, more: object = {}): Promise<Answer> =>
    management.call('POST', '/buckets', { body: { name, ...more } });
  const put = (bucket: string, key: string, content = 'hello'): Promise<Answer> =>
    management.call('PUT', `/buckets/${bucket}/objects/content?key=${key}`, { body: Buffer.from(content) });
  const set = (bucket: string, body: object): Promise<Answer> =>
    management.call('PUT', `/buckets/${bucket}/settings`, { body });

  it('show their current settings, domains and usage', async () => {
    expect(await create('photos', { location_hint: 'eu' })).toMatchObject({
      status: 201,
      body: { data: { location_hint: 'eu', publicDefault: false, soft_delete: { enabled: true, retention_days: 7 } } },
    });
    await create('quiet');
    await set('photos', { publicDefault: true, soft_delete: { retention_days: 30 } });
    await management.call('PUT', '/buckets/photos/versioning', { body: { status: 'enabled' } });
    await management.call('POST', '/buckets/photos/custom-domain', { body: { hostname: 'b.example.org' } });
    await management.call('POST', '/domains', { body: { hostname: 'a.example.org', bucket: 'photos' } });
    await put('photos', 'k');
    await put('photos', 'k', 'again');
    const listed = await management.call('GET', '/buckets');
    expect(listed.body.data).toMatchObject({
      count: 2,
      buckets: [
        {
          name: 'photos',
          publicDefault: true,
          versioning: 'enabled',
          soft_delete: { enabled: true, retention_days: 30 },
          state: 'active',
        },
        { name: 'quiet', publicDefault: false, versioning: 'unversioned', custom_domains: [], object_count: 0 },
      ],
    });
    const [photos] = listed.body.data['buckets'] as { custom_domains: string[]; size_bytes: number }[];
    expect(photos?.custom_domains.toSorted()).toEqual(['a.example.org', 'b.example.org']);
    expect(photos?.size_bytes).toBe(10);
    expect((await management.call('GET', '')).body.data).toMatchObject({
      usage: { buckets: 2, size_bytes: 10 },
      limits: { domains_per_bucket: 100, tags_per_object: 10, object_bytes: 5 * 1024 ** 4, list_keys: 1_000 },
    });
  });

  it('are retained as long as their settings say, and are restored with all objects', async () => {
    await create('photos');
    await put('photos', 'k');
    await set('photos', { soft_delete: { retention_days: 30 } });
    const deleted = await management.call('DELETE', '/buckets/photos');
    const purgeAt = new Date(management.clock.nowMs() + 30 * DAY_MS).toISOString();
    expect(deleted.body.data).toMatchObject({ state: 'soft-deleted', purge_at: purgeAt, restorable: true });
    expect(await put('photos', 'k')).toMatchObject({ status: 404 });
    await management.clock.advance(29 * DAY_MS);
    await management.store.module.maintain();
    expect(await management.call('POST', '/buckets/photos/restore')).toMatchObject({
      status: 200,
      body: { data: { name: 'photos', object_count: 1, soft_delete: { retention_days: 30 } } },
    });
    expect((await management.call('GET', '/buckets/photos/objects/download?key=k')).text).toBe('hello');
  });

  it('are deleted immediately when soft delete is off, and only with force unless empty', async () => {
    await create('photos');
    await set('photos', { soft_delete: { enabled: false } });
    await put('photos', 'k');
    expect(await management.call('DELETE', '/buckets/photos')).toMatchObject({
      status: 409,
      body: { success: false, data: { code: 'BucketNotEmpty' } },
    });
    expect(await management.call('DELETE', '/buckets/photos?force=maybe')).toMatchObject({ status: 400 });
    expect(await management.call('DELETE', '/buckets/photos?force=true')).toMatchObject({
      status: 200,
      body: { data: { name: 'photos', state: 'deleted', purge_at: null, restorable: false } },
    });
    expect((await management.call('GET', '/buckets/deleted')).body.data).toMatchObject({ count: 0 });
    expect(await management.call('POST', '/buckets/photos/restore')).toMatchObject({ status: 404 });
    expect(await create('photos')).toMatchObject({ status: 201 });
    expect((await management.call('GET', '')).body.data).toMatchObject({ usage: { object_count: 0, size_bytes: 0 } });
    await set('photos', { soft_delete: { enabled: false } });
    expect(await management.call('DELETE', '/buckets/photos')).toMatchObject({
      status: 200,
      body: { data: { state: 'deleted' } },
    });
  });

  it('are limited per workspace', async () => {
    await management.close();
    management = await startManagement({ limits: { ...testConfig().limits, buckets_per_workspace: 1 } });
    await create('photos');
    expect(await create('more')).toMatchObject({ status: 400, body: { data: { code: 'TooManyBuckets' } } });
  });

  it('turn an admin key for named buckets into an Editor key, hidden from other writers', async () => {
    await create('photos');
    const team = management.access.team(management.owner.workspaceUuid);
    const member = management.access.user('member');
    management.access.join(team, member, 'member');
    const made = await management.call('POST', `/keys?team_uuid=${team}`, {
      as: member,
      body: { permissions: ['admin'], buckets: ['photos'] },
    });
    expect(made).toMatchObject({
      status: 201,
      body: { data: { key: { role: 'Editor', permissions: ['read', 'write'] } } },
    });
    const writer = management.access.serviceAccount(management.owner.workspaceUuid, ['write']);
    const { accessKeyId } = made.body.data;
    expect((await management.call('GET', '/keys', { as: writer })).body.data).toMatchObject({ count: 0 });
    expect(await management.call('DELETE', '/keys', { as: writer, body: { accessKeyId } })).toMatchObject({
      status: 404,
    });
  });
});

describe('a disabled object store', () => {
  const access = fakeAccess();
  const owner = access.user('owner');
  const log = createLogger({ level: 'silent', name: 'test' });
  let app: Awaited<ReturnType<typeof createHttpApp>>;
  beforeAll(async () => {
    app = await createHttpApp({ log, metrics: createMetrics(), access, audit: fakeAudit(), version: '0' });
    await registerDisabledManagement(app);
    await app.ready();
  });
  afterAll(() => app.close());
  const url = `/api/v1/workspace/${owner.workspaceUuid}/object-store`;

  it('reports so in its status, and answers everything else with 503', async () => {
    const status = await app.inject({ method: 'GET', url, headers: owner.headers });
    expect(status.json()).toMatchObject({ success: true, data: { enabled: false, tenant_id: owner.workspaceUuid } });
    const answer = await app.inject({ method: 'POST', url: `${url}/buckets`, headers: owner.headers, payload: {} });
    expect(answer).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } });
    expect(answer.json()).toMatchObject({ success: false, data: { code: 'ObjectStoreDisabled' } });
  });

  it('reveals nothing to unauthorized callers', async () => {
    expect((await app.inject({ method: 'GET', url: `${url}/buckets` })).statusCode).toBe(401);
    const { headers } = access.user('outsider');
    expect((await app.inject({ method: 'GET', url: `${url}/buckets`, headers })).statusCode).toBe(404);
  });
});
