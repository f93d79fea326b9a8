import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startManagement, type RunningManagement } from '../support/running-management.ts';

describe('bucket configuration', () => {
  let management: RunningManagement;
  beforeEach(async () => {
    management = await startManagement();
    await management.call('POST', '/buckets', { body: { name: 'photos' } });
  });
  afterEach(() => management.close());

  const settings = (body: object) => management.call('PUT', '/buckets/photos/settings', { body });

  it('has defaults for every setting', async () => {
    expect((await management.call('GET', '/buckets/photos/settings')).body.data).toEqual({
      publicDefault: false,
      cacheControl: null,
      cors_rules: [],
      soft_delete: { enabled: true, retention_days: 7 },
      max_object_size: null,
      allowed_content_types: null,
      quota: { max_bytes: null, max_objects: null },
      website: null,
      notifications: null,
    });
  });

  it('merges given fields, keeps the others, and resets a null field to its default', async () => {
    expect(await settings({ publicDefault: true, soft_delete: { retention_days: 30 } })).toMatchObject({ status: 200 });
    await settings({ cacheControl: 'public, max-age=60', quota: { max_bytes: 1_000 } });
    await settings({ quota: { max_objects: 5 }, soft_delete: { enabled: false } });
    expect((await management.call('GET', '/buckets/photos/settings')).body.data).toMatchObject({
      publicDefault: true,
      cacheControl: 'public, max-age=60',
      soft_delete: { enabled: false, retention_days: 30 },
      quota: { max_bytes: 1_000, max_objects: 5 },
    });
    const reset = await settings({
      publicDefault: null,
      soft_delete: null,
      quota: { max_bytes: null },
      cacheControl: null,
    });
    expect(reset.body.data).toMatchObject({
      publicDefault: false,
      cacheControl: null,
      soft_delete: { enabled: true, retention_days: 7 },
      quota: { max_bytes: null, max_objects: 5 },
    });
  });

  it('shows documents shared with S3 operations', async () => {
    const cors = [{ allowed_origins: ['https://example.org'], allowed_methods: ['GET', 'PUT'], max_age_seconds: 60 }];
    const website = { index: 'index.html', error: '404.html' };
    const changed = await settings({ cors_rules: cors, website });
    expect(changed.body.data).toMatchObject({ cors_rules: cors, website });
    expect((await settings({ cors_rules: null, website: null })).body.data).toMatchObject({
      cors_rules: [],
      website: null,
    });
  });

  it('keeps every one of several concurrent changes', async () => {
    const changes = [
      { publicDefault: true },
      { cacheControl: 'no-cache' },
      { max_object_size: 7 },
      { quota: { max_objects: 3 } },
      { quota: { max_bytes: 4 } },
    ];
    const statuses = await Promise.all(changes.map(async (body) => (await settings(body)).status));
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    expect((await management.call('GET', '/buckets/photos/settings')).body.data).toMatchObject({
      publicDefault: true,
      cacheControl: 'no-cache',
      max_object_size: 7,
      quota: { max_objects: 3, max_bytes: 4 },
    });
  });

  it.each<[object, string]>([
    [{}, 'body'],
    [{ colour: 'blue' }, 'colour'],
    [{ publicDefault: 'yes' }, 'publicDefault'],
    [{ cacheControl: 'a\r\nb: c' }, 'cacheControl'],
    [{ soft_delete: { retention_days: 91 } }, 'soft_delete.retention_days'],
    [{ soft_delete: { days: 3 } }, 'soft_delete.days'],
    [{ max_object_size: -1 }, 'max_object_size'],
    [{ allowed_content_types: ['image'] }, 'allowed_content_types.0'],
    [{ cors_rules: [{ allowed_origins: ['*'], allowed_methods: ['PATCH'] }] }, 'cors_rules.0.allowed_methods.0'],
    [{ website: { index: 'a/b' } }, 'website.index'],
  ])('rejects the settings %o and names the field', async (body, field) => {
    const answer = await settings(body);
    expect(answer).toMatchObject({ status: 400, body: { success: false, data: { code: 'InvalidRequest' } } });
    expect(answer.body.data['details']).toContainEqual(expect.objectContaining({ field }));
    expect(answer.body.data['resource']).toBe('photos');
  });

  it('enables and suspends versioning, in any spelling, and never returns to unversioned', async () => {
    const url = '/buckets/photos/versioning';
    expect((await management.call('GET', url)).body.data).toEqual({ status: 'unversioned', mfa_delete: false });
    for (const [body, status] of [
      [{ status: 'enabled' }, 'enabled'],
      [{ enabled: false }, 'suspended'],
      [{ status: 'Enabled' }, 'enabled'],
      [{ status: 'Suspended' }, 'suspended'],
    ] as const) {
      expect((await management.call('PUT', url, { body })).body.data).toEqual({ status, mfa_delete: false });
      expect((await management.call('GET', url)).body.data).toEqual({ status, mfa_delete: false });
    }
    for (const body of [{}, { status: 'unversioned' }, { status: 'enabled', enabled: true }]) {
      expect(await management.call('PUT', url, { body })).toMatchObject({ status: 400 });
    }
  });

  it('returns the location of the bucket', async () => {
    await management.call('POST', '/buckets', { body: { name: 'far', location_hint: 'weur' } });
    expect((await management.call('GET', '/buckets/far/location')).body.data).toEqual({
      location: 'auto',
      region: 'auto',
      location_hint: 'weur',
      provider: 'embedded',
    });
  });

  it('returns the URLs of objects', async () => {
    const { port, tenantId } = management;
    const answer = await management.call('GET', '/urls?bucket=photos');
    expect(answer.body.data).toEqual({
      bucket: 'photos',
      public: false,
      virtual_host: `http://photos.s3.localhost:${port}/`,
      path_style: `http://127.0.0.1:${port}/photos/`,
      management_public: expect.stringContaining(
        `/api/v1/public/object-store/t/${tenantId}/objects/{key}?bucket=photos`,
      ),
      public_objects: null,
      custom_domains: [],
    });
    expect(await management.call('GET', '/urls')).toMatchObject({ status: 400 });
    expect(await management.call('GET', '/urls?bucket=absent')).toMatchObject({ status: 404 });
  });

  it('stores lifecycle rules in one format, whichever format they arrive in', async () => {
    const url = '/buckets/photos/lifecycle';
    expect((await management.call('GET', url)).body.data).toEqual({ rules: [] });
    const empty = { prefix: '', tags: {}, size_greater_than: null, size_less_than: null };
    const rule = {
      id: 'a',
      enabled: true,
      filter: { ...empty, prefix: 'logs/' },
      expiration: { days: 30 },
      noncurrent_version_expiration: null,
      abort_incomplete_multipart_upload: null,
    };
    const ours = { rules: [{ id: 'a', filter: { prefix: 'logs/' }, expiration: { days: 30 } }] };
    const aws = { Rules: [{ ID: 'a', Status: 'Enabled', Filter: { Prefix: 'logs/' }, Expiration: { Days: 30 } }] };
    const age = { condition: { type: 'Age', maxAge: 30 * 86_400 } };
    const r2 = { rules: [{ id: 'a', enabled: true, conditions: { prefix: 'logs/' }, deleteObjectsTransition: age }] };
    for (const body of [ours, aws, r2]) {
      expect((await management.call('PUT', url, { body })).body.data).toEqual({ rules: [rule] });
      expect((await management.call('GET', url)).body.data).toEqual({ rules: [rule] });
    }
    expect((await management.call('DELETE', url)).body.data).toEqual({ rules: [] });
    expect((await management.call('GET', url)).body.data).toEqual({ rules: [] });
  });

  it.each<[object]>([
    [{}],
    [{ rules: [{ id: 'a' }] }],
    [{ rules: [{ id: 'a', expiration: { days: 0 } }] }],
    [{ rules: [{ id: 'a', expiration: { days: 1, date: '2030-01-01T00:00:00Z' } }] }],
    [{ rules: [{ id: 'a', expiration: { date: '2030-01-01T05:00:00Z' } }] }],
    [
      {
        rules: [
          { id: 'a', expiration: { days: 1 } },
          { id: 'a', expiration: { days: 2 } },
        ],
      },
    ],
    [{ rules: [{ id: 'a', filter: { tags: { k: 'v' } }, abort_incomplete_multipart_upload: { days: 1 } }] }],
    [{ rules: [{ id: 'x'.repeat(256), expiration: { days: 1 } }] }],
    [{ Rules: [{ Status: 'On', Expiration: { Days: 1 } }] }],
    [{ rules: [], Rules: [] }],
  ])('rejects the lifecycle %o', async (body) => {
    const answer = await management.call('PUT', '/buckets/photos/lifecycle', { body });
    expect(answer).toMatchObject({ status: 400, body: { success: false } });
    expect((await management.call('GET', '/buckets/photos/lifecycle')).body.data).toEqual({ rules: [] });
  });
});
