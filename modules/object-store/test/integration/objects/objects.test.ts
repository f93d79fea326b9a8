import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startManagement, type Answer, type RunningManagement } from '../../support/running-management.ts';

describe('the object proxy', () => {
  let management: RunningManagement;
  beforeEach(async () => {
    management = await startManagement({ trash_grace_seconds: 0 });
    await management.call('POST', '/buckets', { body: { name: 'photos' } });
  });
  afterEach(() => management.close());

  const objects = '/buckets/photos/objects';
  const bytes = (text: string): Buffer => Buffer.from(text);
  const put = (key: string, content = 'hello', headers: Record<string, string> = {}, query = ''): Promise<Answer> =>
    management.call('PUT', `${objects}/content?key=${encodeURIComponent(key)}${query}`, {
      body: bytes(content),
      headers: { 'content-type': 'text/plain', ...headers },
    });
  const download = (key: string, headers: Record<string, string> = {}, query = ''): Promise<Answer> =>
    management.call('GET', `${objects}/download?key=${encodeURIComponent(key)}${query}`, { headers });
  const list = async (query: string): Promise<Record<string, unknown>> =>
    (await management.call('GET', `${objects}?${query}`)).body.data;

  it('stores a raw body with its headers and returns both', async () => {
    const stored = await put('a/b.txt', 'hello', { 'cache-control': 'max-age=5', 'x-amz-meta-colour': 'blue' });
    expect(stored).toMatchObject({
      status: 201,
      body: {
        success: true,
        data: {
          key: 'a/b.txt',
          size: 5,
          etag: '5d41402abc4b2a76b9719d911017c592',
          version_id: null,
          content_type: 'text/plain',
          last_modified: '2026-03-01T12:00:00.000Z',
        },
      },
    });
    expect(stored.body.data['checksum_crc64nvme']).toMatch(/^[A-Za-z0-9+/]{11}=$/);
    const found = await download('a/b.txt');
    expect(found).toMatchObject({
      status: 200,
      text: 'hello',
      headers: {
        'content-type': 'text/plain',
        'content-length': '5',
        etag: '"5d41402abc4b2a76b9719d911017c592"',
        'x-amz-meta-colour': 'blue',
        'x-content-type-options': 'nosniff',
        'content-disposition': `attachment; filename="b.txt"; filename*=UTF-8''b.txt`,
        'cache-control': 'private, no-cache',
      },
    });
    expect(found.headers).toHaveProperty('x-request-id');
  });

  it('stores any body unchanged, JSON included, under any key', async () => {
    const keys = ['täxt ü.txt', 'a', 'a/b', 'a//b', '../etc', 'x?y#z%20&+', '🦊'];
    for (const key of keys) {
      expect(await put(key, '{not json', { 'content-type': 'application/json' })).toMatchObject({ status: 201 });
      expect(await download(key)).toMatchObject({ status: 200, text: '{not json' });
    }
    const listed = (await list('')) as { objects: { key: string }[] };
    expect(new Set(listed.objects.map(({ key }) => key))).toEqual(new Set(keys));
    expect(await put('x'.repeat(1_025))).toMatchObject({ status: 400 });
    expect(await put('')).toMatchObject({ status: 400, body: { data: { code: 'InvalidRequest' } } });
  });

  it('applies conditions to writes', async () => {
    expect(await put('k', 'one', { 'if-none-match': '*' })).toMatchObject({ status: 201 });
    expect(await put('k', 'two', { 'if-none-match': '*' })).toMatchObject({
      status: 412,
      body: { data: { code: 'PreconditionFailed', resource: 'photos/k' } },
    });
    expect(await put('k', 'two', { 'if-match': '"nonsense"' })).toMatchObject({ status: 412 });
    const etag = String((await download('k')).headers['etag']);
    expect(await put('k', 'two', { 'if-match': etag })).toMatchObject({ status: 201 });
    expect((await download('k')).text).toBe('two');
  });

  it('supports ranges and conditions on downloads', async () => {
    await put('k', '0123456789');
    const etag = String((await download('k')).headers['etag']);
    expect(await download('k', { range: 'bytes=2-4' })).toMatchObject({
      status: 206,
      text: '234',
      headers: { 'content-range': 'bytes 2-4/10', 'content-length': '3' },
    });
    expect(await download('k', { range: 'bytes=-3' })).toMatchObject({ status: 206, text: '789' });
    expect(await download('k', { range: 'bytes=2-4', 'if-range': '"other"' })).toMatchObject({ status: 200 });
    expect(await download('k', { range: 'bytes=20-' })).toMatchObject({
      status: 416,
      body: { data: { code: 'InvalidRange' } },
    });
    expect(await download('k', { 'if-none-match': etag })).toMatchObject({ status: 304, text: '' });
    expect(await download('k', { 'if-match': '"other"' })).toMatchObject({ status: 412 });
    const head = await management.call('HEAD', `${objects}/download?key=k`);
    expect(head).toMatchObject({ status: 200, text: '', headers: { 'content-length': '10' } });
    expect(await download('absent')).toMatchObject({
      status: 404,
      body: { data: { code: 'NoSuchKey', resource: 'photos/absent' } },
    });
  });

  it('displays only images inline, and in a CSP sandbox', async () => {
    await put('page.html', '<script>1</script>', { 'content-type': 'text/html' });
    await put('cat.svg', '<svg/>', { 'content-type': 'image/svg+xml' });
    await put('cat.png', 'png', { 'content-type': 'image/png' });
    for (const key of ['page.html', 'cat.svg', 'cat.png']) {
      for (const query of ['', '&inline=1']) {
        const { headers } = await download(key, {}, query);
        expect(String(headers['content-security-policy'])).toMatch(/^sandbox; default-src 'none'/);
        expect(headers['x-content-type-options']).toBe('nosniff');
        const isShown = key === 'cat.png' && query !== '';
        expect(String(headers['content-disposition'])).toMatch(isShown ? /^inline;/ : /^attachment;/);
      }
    }
  });

  it('lists by folder and page, and rejects a cursor it did not issue', async () => {
    for (const key of ['a/1', 'a/2', 'b', 'c/x/1', 'd']) await put(key);
    expect(await list('delimiter=/')).toMatchObject({
      objects: [{ key: 'b', size: 5, content_type: 'text/plain', public: false, version_id: null }, { key: 'd' }],
      prefixes: ['a/', 'c/'],
      cursor: null,
      truncated: false,
      key_count: 4,
    });
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const page = (await list(`limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)) as {
        objects: { key: string }[];
        cursor: string | null;
      };
      seen.push(...page.objects.map(({ key }) => key));
      cursor = page.cursor ?? '';
    } while (cursor !== '');
    expect(seen).toEqual(['a/1', 'a/2', 'b', 'c/x/1', 'd']);
    expect(await list('prefix=a/')).toMatchObject({ key_count: 2 });
    expect(await list('start_after=b')).toMatchObject({ objects: [{ key: 'c/x/1' }, { key: 'd' }] });
    const first = (await list('limit=1')) as { cursor: string };
    await management.call('POST', '/buckets', { body: { name: 'other' } });
    for (const path of [
      `${objects}?cursor=YWJj`,
      `${objects}?cursor=${first.cursor}x`,
      `/buckets/other/objects?cursor=${first.cursor}`,
      `${objects}/versions?cursor=${first.cursor}`,
    ]) {
      expect(await management.call('GET', path)).toMatchObject({
        status: 400,
        body: { data: { code: 'InvalidArgument' } },
      });
    }
    for (const query of ['limit=0', 'limit=1001', 'limit=x']) {
      expect(await management.call('GET', `${objects}?${query}`)).toMatchObject({ status: 400 });
    }
  });

  it('deletes one object, one version or many objects, missing ones included', async () => {
    await put('a');
    await put('b');
    expect(await management.call('DELETE', `${objects}?key=a`)).toMatchObject({
      status: 200,
      body: { data: { key: 'a', deleted: true, delete_marker: false, version_id: null } },
    });
    expect(await management.call('DELETE', `${objects}?key=a`)).toMatchObject({ status: 200 });
    expect(await management.call('DELETE', objects)).toMatchObject({ status: 400 });
    await management.call('PUT', '/buckets/photos/versioning', { body: { status: 'enabled' } });
    const first = (await put('v', 'one')).body.data['version_id'];
    await put('v', 'two');
    const many = await management.call('POST', `${objects}/delete`, { body: { keys: ['b', 'v', 'absent'] } });
    expect(many.body.data).toMatchObject({
      deleted: [{ key: 'b', delete_marker: true }, { key: 'v', delete_marker: true }, { key: 'absent' }],
      errors: [],
    });
    const versions = await management.call('GET', `${objects}/versions?key=v`);
    expect(versions.body.data).toMatchObject({
      versions: [
        { key: 'v', is_latest: true, delete_marker: true, etag: null },
        { key: 'v', is_latest: false, delete_marker: false, size: 3 },
        { key: 'v', version_id: first },
      ],
      cursor: null,
    });
    expect(await download('v', {}, `&version_id=${String(first)}`)).toMatchObject({ status: 200, text: 'one' });
    const named = { objects: [{ key: 'v', version_id: first }] };
    expect((await management.call('POST', `${objects}/delete`, { body: named })).body.data).toMatchObject({
      deleted: [{ key: 'v', version_id: first, delete_marker: false }],
    });
    expect(await download('v', {}, `&version_id=${String(first)}`)).toMatchObject({ status: 404 });
    for (const body of [{}, { keys: [] }, { keys: ['a'], objects: [{ key: 'a' }] }, { keys: ['a'], quiet: true }]) {
      expect(await management.call('POST', `${objects}/delete`, { body })).toMatchObject({ status: 400 });
    }
  });

  it('creates folders with valid names only', async () => {
    const folder = (path: string) => management.call('POST', '/buckets/photos/folders', { body: { path } });
    expect(await folder('2026/holiday/')).toMatchObject({ status: 201, body: { data: { path: '2026/holiday/' } } });
    expect(await list('delimiter=/')).toMatchObject({ prefixes: ['2026/'] });
    expect((await download('2026/holiday/')).headers).toMatchObject({
      'content-length': '0',
      'content-type': 'application/x-directory',
    });
    for (const path of ['/', '/a/', 'a//b/', 'a/../b/', './']) {
      expect([path, (await folder(path)).status]).toEqual([path, 400]);
    }
  });

  it('enforces the bucket settings', async () => {
    const body = { max_object_size: 5, allowed_content_types: ['image/*', 'text/plain'] };
    await management.call('PUT', '/buckets/photos/settings', { body });
    expect(await put('fits')).toMatchObject({ status: 201 });
    expect(await put('image', 'png', { 'content-type': 'image/png' })).toMatchObject({ status: 201 });
    expect(await put('large', '123456')).toMatchObject({ status: 413, body: { data: { code: 'EntityTooLarge' } } });
    expect(await put('page', 'x', { 'content-type': 'text/html' })).toMatchObject({
      status: 400,
      body: { data: { details: [{ field: 'content_type' }] } },
    });
  });

  it('rate-limits requests per bucket', async () => {
    const statuses: number[] = [];
    for (let call = 0; call < 60; call += 1) statuses.push((await management.call('GET', objects)).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
    expect(await management.call('GET', objects)).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1' },
      body: { data: { code: 'SlowDown' } },
    });
    expect(await management.call('GET', '/buckets/other/objects')).toMatchObject({ status: 404 });
    await management.clock.advance(1_000);
    expect(await management.call('GET', objects)).toMatchObject({ status: 200 });
  });

  it('serves public objects to everyone, and reveals nothing about the rest', async () => {
    await put('open.txt', 'open', {}, '&public=true');
    await put('closed.txt');
    await put('a b/ü.txt', 'umlaut', {}, '&public=true');
    expect(await list('')).toMatchObject({
      objects: [{ public: true }, { key: 'closed.txt', public: false }, { public: true }],
    });
    const read = (
      key: string,
      options: { bucket?: string; tenant?: string; headers?: Record<string, string>; method?: 'GET' | 'HEAD' } = {},
    ) =>
      management.app.inject({
        method: options.method ?? 'GET',
        url: `/api/v1/public/object-store/t/${options.tenant ?? management.tenantId}/objects/${key}?bucket=${options.bucket ?? 'photos'}`,
        headers: options.headers ?? {},
      });
    const open = await read('open.txt');
    expect(open).toMatchObject({ statusCode: 200, body: 'open' });
    expect(open.headers).toMatchObject({ 'cache-control': 'public, no-cache', 'x-content-type-options': 'nosniff' });
    expect(await read('a%20b/%C3%BC.txt')).toMatchObject({ statusCode: 200, body: 'umlaut' });
    expect(await read('a%20b%2F%C3%BC.txt')).toMatchObject({ statusCode: 200, body: 'umlaut' });
    expect(await read('open.txt', { method: 'HEAD' })).toMatchObject({ statusCode: 200, body: '' });
    expect(await read('open.txt', { headers: { range: 'bytes=1-2' } })).toMatchObject({ statusCode: 206, body: 'pe' });
    const etag = String(open.headers['etag']);
    expect(await read('open.txt', { headers: { 'if-none-match': etag } })).toMatchObject({ statusCode: 304 });
    const refusals = [
      await read('closed.txt'),
      await read('absent.txt'),
      await read('open.txt', { bucket: 'absent' }),
      await read('open.txt', { tenant: management.access.user('other').workspaceUuid }),
      await read('open.txt', { tenant: 'nonsense' }),
    ];
    const shapes = refusals.map((answer) => ({ ...answer.json(), status: answer.statusCode }));
    for (const shape of shapes) {
      shape.data.request_id = '';
      expect(shape).toEqual(shapes[0]);
      expect(shape).toMatchObject({ status: 404, success: false, data: { code: 'NoSuchKey', resource: null } });
    }
    const settings = { publicDefault: true, cacheControl: 'public, max-age=60' };
    await management.call('PUT', '/buckets/photos/settings', { body: settings });
    const now = await read('closed.txt');
    expect(now).toMatchObject({ statusCode: 200, body: 'hello' });
    expect(now.headers['cache-control']).toBe('public, max-age=60');
    await management.call('PUT', '/buckets/photos/settings', { body: { publicDefault: false } });
    expect(await read('closed.txt')).toMatchObject({ statusCode: 404 });
  });
});
