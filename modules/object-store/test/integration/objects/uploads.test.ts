import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startManagement, type Answer, type RunningManagement } from '../../support/running-management.ts';
import { testConfig } from '../../support/running-store.ts';
import { recommendedPartBytes } from '../../../src/routes/objects/upload-routes.ts';

interface FormPart {
  name: string;
  value: string;
  filename?: string;
  type?: string;
}

const BOUNDARY = 'a-boundary-of-this-test';

function renderForm(parts: readonly FormPart[], end = `--${BOUNDARY}--\r\n`): Buffer {
  const written = parts.map(({ name, value, filename, type }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"\r\ncontent-type: ${type ?? 'text/plain'}`;
    return `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
  });
  return Buffer.from(written.join('') + end);
}

describe('uploads through the management API', () => {
  let management: RunningManagement;
  let bucket = '';
  let made = 0;
  beforeAll(async () => {
    const limits = { ...testConfig().limits, part_min_bytes: 5, management_requests_per_second: 10_000 };
    management = await startManagement({ trash_grace_seconds: 0, limits });
  });
  afterAll(() => management.close());
  beforeEach(async () => {
    made += 1;
    bucket = `uploads-${made}`;
    await management.call('POST', '/buckets', { body: { name: bucket } });
  });

  const objects = (): string => `/buckets/${bucket}/objects`;
  const download = (key: string): Promise<Answer> =>
    management.call('GET', `${objects()}/download?key=${encodeURIComponent(key)}`);
  const keys = async (): Promise<string[]> =>
    ((await management.call('GET', objects())).body.data as { objects: { key: string }[] }).objects.map(
      ({ key }) => key,
    );
  const post = (path: string, body: unknown): Promise<Answer> => management.call('POST', path, { body });

  describe('by form', () => {
    const send = (body: Buffer, type = `multipart/form-data; boundary=${BOUNDARY}`): Promise<Answer> =>
      management.call('POST', objects(), { body, headers: { 'content-type': type } });
    const file = (filename: string, value = 'hello', type?: string): FormPart => ({
      name: 'file',
      filename,
      value,
      ...(type === undefined ? {} : { type }),
    });

    it('store one file under its key, with the given fields', async () => {
      const answer = await send(
        renderForm([
          { name: 'key', value: 'docs/a.txt' },
          { name: 'content_type', value: 'text/markdown' },
          { name: 'cache_control', value: 'max-age=60' },
          { name: 'metadata', value: '{"Colour":"blue"}' },
          { name: 'public', value: 'true' },
          file('ignored.txt'),
        ]),
      );
      expect(answer).toMatchObject({
        status: 201,
        body: { success: true, data: { objects: [{ key: 'docs/a.txt', size: 5, content_type: 'text/markdown' }] } },
      });
      expect(await download('docs/a.txt')).toMatchObject({
        text: 'hello',
        headers: { 'content-type': 'text/markdown', 'x-amz-meta-colour': 'blue' },
      });
      const [stored] = answer.body.data['objects'] as { url: string }[];
      const open = await management.app.inject({ method: 'GET', url: new URL(stored?.url ?? '').href });
      expect(open).toMatchObject({ statusCode: 200, body: 'hello', headers: { 'cache-control': 'max-age=60' } });
    });

    it('store many files under a prefix, each with its own type, empty ones included', async () => {
      const body = renderForm([
        { name: 'prefix', value: 'in/' },
        file('a.txt', 'a'),
        file('b.json', '{}', 'application/json'),
        file('empty', ''),
      ]);
      expect(await send(body)).toMatchObject({ status: 201 });
      expect(await keys()).toEqual(['in/a.txt', 'in/b.json', 'in/empty']);
      expect((await download('in/b.json')).headers).toMatchObject({ 'content-type': 'application/json' });
      expect((await download('in/empty')).headers).toMatchObject({ 'content-length': '0' });
    });

    it('stream a large file in pieces and return it whole', async () => {
      const value = 'x'.repeat(200_000);
      expect(await send(renderForm([file('large', value)]))).toMatchObject({ status: 201 });
      expect((await download('large')).text).toBe(value);
    });

    it.each<[string, Buffer, number]>([
      ['no file', renderForm([{ name: 'key', value: 'k' }]), 400],
      ['an unknown field', renderForm([{ name: 'colour', value: 'red' }, file('a')]), 400],
      ['a field twice', renderForm([{ name: 'key', value: 'k' }, { name: 'key', value: 'l' }, file('a')]), 400],
      ['a field behind a file', renderForm([file('a'), { name: 'public', value: 'true' }]), 400],
      ['a file of another name', renderForm([{ name: 'picture', value: 'x', filename: 'a' }]), 400],
      ['two files for one key', renderForm([{ name: 'key', value: 'k' }, file('a'), file('b')]), 400],
      ['one name twice', renderForm([file('a'), file('a')]), 400],
      ['21 files', renderForm(Array.from({ length: 21 }, (_, index) => file(`f${index}`))), 400],
      ['metadata that is no JSON', renderForm([{ name: 'metadata', value: '{' }, file('a')]), 400],
      [
        'metadata that is too long',
        renderForm([{ name: 'metadata', value: `{"a":"${'x'.repeat(2_048)}"}` }, file('a')]),
        400,
      ],
      ['a header in a field', renderForm([{ name: 'cache_control', value: 'a\nb' }, file('a')]), 400],
      ['public that is neither', renderForm([{ name: 'public', value: 'yes' }, file('a')]), 400],
      ['a key that is too long', renderForm([{ name: 'key', value: 'x'.repeat(1_025) }, file('a')]), 400],
      ['an end that is missing', renderForm([file('a')], ''), 400],
    ])('reject %s and store nothing', async (_what, body, status) => {
      expect(await send(body)).toMatchObject({ status, body: { success: false } });
      expect(await keys()).toEqual([]);
      expect((await management.call('GET', '')).body.data).toHaveProperty('usage');
    });

    it('reject a body that is not a form', async () => {
      for (const type of ['application/json', 'multipart/form-data', 'multipart/mixed; boundary=x']) {
        expect(await send(Buffer.from('{}'), type)).toMatchObject({ status: 400 });
      }
    });
  });

  describe('by presigned URL', () => {
    const presign = (body: object): Promise<Answer> => post(`${objects()}/presign`, body);
    const using = async (answer: unknown, body?: string): Promise<Response> => {
      const { url, method, headers } = answer as { url: string; method: string; headers: Record<string, string> };
      const { 'content-length': _length, ...sent } = headers; // fetch sets it
      return await fetch(url, { method, headers: sent, ...(body === undefined ? {} : { body }) });
    };

    it('work without credentials, for one key and until they expire', async () => {
      const put = await presign({ key: 'a b/ü', content_type: 'text/plain', expires_in: 60 });
      expect(put).toMatchObject({
        status: 200,
        body: {
          data: {
            key: 'a b/ü',
            method: 'PUT',
            headers: { 'content-type': 'text/plain' },
            expires_at: new Date(management.clock.nowMs() + 60_000).toISOString(),
          },
        },
      });
      expect((await using(put.body.data, 'hello')).status).toBe(200);
      expect(await download('a b/ü')).toMatchObject({ text: 'hello', headers: { 'content-type': 'text/plain' } });
      const get = (await presign({ key: 'a b/ü', method: 'GET', expires_in: 60 })).body.data;
      expect(await (await using(get)).text()).toBe('hello');
      expect((await using({ ...get, method: 'DELETE' })).status).toBe(403);
      await management.clock.advance(61_000);
      expect((await using(get)).status).toBe(403);
      const remove = (await presign({ key: 'a b/ü', method: 'DELETE' })).body.data;
      expect((await using(remove)).status).toBe(204);
      expect(await keys()).toEqual([]);
    });

    it('enforce the signed headers on the upload', async () => {
      const sized = (await presign({ key: 'k', content_length: 5, if_none_match: true })).body.data;
      expect((await using(sized, 'toolong')).status).toBe(403);
      expect((await using(sized, 'hello')).status).toBe(200);
      expect((await using(sized, 'hello')).status).toBe(412);
      const typed = (await presign({ key: 'k', content_type: 'text/plain' })).body.data;
      expect((await using({ ...typed, headers: { 'content-type': 'text/html' } }, 'x')).status).toBe(403);
    });

    it('are issued for many keys at once', async () => {
      const { urls } = (await presign({ keys: ['a', 'b', 'c'] })).body.data as { urls: { key: string }[] };
      expect(urls.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
      for (const url of urls) expect((await using(url, url.key)).status).toBe(200);
      expect(await keys()).toEqual(['a', 'b', 'c']);
    });

    it('are issued for the parts of an upload, which completes without a part list', async () => {
      const answer = await presign({ key: 'whole', multipart: { parts: 2, metadata: { a: 'b' } } });
      const { uploadId, parts } = answer.body.data as {
        uploadId: string;
        parts: { partNumber: number; url: string }[];
      };
      expect(parts.map(({ partNumber }) => partNumber)).toEqual([1, 2]);
      for (const { partNumber, url } of parts) {
        expect((await fetch(url, { method: 'PUT', body: `part${partNumber}` })).status).toBe(200);
      }
      expect(await post(`${objects()}/multipart/${uploadId}/complete`, {})).toMatchObject({
        status: 200,
        body: { data: { key: 'whole', size: 10 } },
      });
      expect((await download('whole')).text).toBe('part1part2');
    });

    it('stay valid when an access key is deleted', async () => {
      const key = await management.call('POST', '/keys', { body: {} });
      const put = (await presign({ key: 'k' })).body.data;
      await management.call('DELETE', '/keys', { body: { accessKeyId: key.body.data['accessKeyId'] } });
      expect((await using(put, 'x')).status).toBe(200);
      expect((await management.call('GET', '/keys')).body.data).toMatchObject({ count: 0 });
    });

    it.each<[object, number]>([
      [{}, 400],
      [{ key: 'a', keys: ['b'] }, 400],
      [{ keys: [] }, 400],
      [{ keys: Array.from({ length: 101 }, (_, index) => `k${index}`) }, 400],
      [{ key: 'a', expires_in: 604_801 }, 400],
      [{ key: 'a', expires_in: 0 }, 400],
      [{ key: 'a', method: 'POST' }, 400],
      [{ key: 'a', method: 'GET', content_type: 'text/plain' }, 400],
      [{ key: 'a', version_id: 'x' }, 400],
      [{ key: 'x'.repeat(1_025) }, 400],
      [{ keys: ['a'], multipart: { parts: 2 } }, 400],
      [{ key: 'a', multipart: { parts: 10_001 } }, 400],
      [{ key: 'a', multipart: { parts: 0 } }, 400],
      [{ key: 'a', colour: 'red' }, 400],
    ])('are rejected for %o', async (body, status) => {
      expect(await presign(body)).toMatchObject({ status, body: { success: false } });
    });
  });

  describe('in parts', () => {
    const start = async (body: object = { key: 'whole' }): Promise<string> =>
      String((await post(`${objects()}/multipart`, body)).body.data['uploadId']);
    const putPart = (uploadId: string, n: number | string, content: string): Promise<Answer> =>
      management.call('PUT', `${objects()}/multipart/${uploadId}/parts/${n}`, {
        body: Buffer.from(content),
        headers: { 'content-type': 'application/octet-stream' },
      });
    const complete = (uploadId: string, body: unknown = {}): Promise<Answer> =>
      post(`${objects()}/multipart/${uploadId}/complete`, body);

    it('start, accept parts in any order, list them, and complete into an object once', async () => {
      const begun = await post(`${objects()}/multipart`, {
        key: 'whole',
        content_type: 'text/plain',
        metadata: { a: 'b' },
        size: 20,
      });
      expect(begun).toMatchObject({
        status: 201,
        body: {
          data: { key: 'whole', bucket, min_part_size: 5, max_parts: 10_000, recommended_part_size: 16_777_216 },
        },
      });
      const uploadId = String(begun.body.data['uploadId']);
      expect(await putPart(uploadId, 2, 'world')).toMatchObject({
        status: 200,
        body: { data: { partNumber: 2, size: 5 } },
      });
      expect(await putPart(uploadId, 1, 'Hello')).toMatchObject({ status: 200 });
      expect(await putPart(uploadId, 1, 'hello')).toMatchObject({ status: 200 });
      const listed = await management.call('GET', `${objects()}/multipart/${uploadId}/parts?limit=1`);
      expect(listed.body.data).toMatchObject({ parts: [{ partNumber: 1, size: 5 }], cursor: 1, truncated: true });
      expect(
        (await management.call('GET', `${objects()}/multipart/${uploadId}/parts?cursor=1`)).body.data,
      ).toMatchObject({ parts: [{ partNumber: 2 }], cursor: null, truncated: false });
      expect((await management.call('GET', `${objects()}/multipart`)).body.data).toMatchObject({
        uploads: [{ uploadId, key: 'whole', content_type: 'text/plain' }],
      });
      expect(await keys()).toEqual([]);
      const first = await complete(uploadId);
      expect(first).toMatchObject({ status: 200, body: { data: { key: 'whole', size: 10 } } });
      expect((await complete(uploadId)).body).toEqual(first.body);
      expect(await download('whole')).toMatchObject({
        text: 'helloworld',
        headers: { 'content-type': 'text/plain', 'x-amz-meta-a': 'b' },
      });
      expect(await putPart(uploadId, 3, 'late!')).toMatchObject({
        status: 404,
        body: { data: { code: 'NoSuchUpload' } },
      });
      expect(await management.call('DELETE', `${objects()}/multipart/${uploadId}`)).toMatchObject({ status: 404 });
    });

    it('use only the listed parts, and reject wrong ones', async () => {
      const uploadId = await start();
      const etag = String((await putPart(uploadId, 1, 'hello')).body.data['etag']);
      await putPart(uploadId, 2, 'not wanted');
      for (const [parts, code] of [
        [[{ partNumber: 1, etag: 'nonsense' }], 'InvalidPart'],
        [[{ partNumber: 3, etag }], 'InvalidPart'],
      ] as const) {
        expect(await complete(uploadId, { parts })).toMatchObject({ status: 400, body: { data: { code } } });
      }
      expect(await complete(uploadId, { parts: [] })).toMatchObject({ status: 400 });
      expect(await complete(uploadId, { parts: [{ partNumber: 1, etag: `"${etag}"` }] })).toMatchObject({
        status: 200,
      });
      expect((await download('whole')).text).toBe('hello');
    });

    it('reject undersized parts except the last, and an upload without parts', async () => {
      const uploadId = await start();
      expect(await complete(uploadId)).toMatchObject({ status: 400, body: { data: { code: 'InvalidRequest' } } });
      await putPart(uploadId, 1, 'abc');
      await putPart(uploadId, 2, 'hello');
      expect(await complete(uploadId)).toMatchObject({ status: 400, body: { data: { code: 'EntityTooSmall' } } });
      for (const n of [0, 10_001, 'x']) expect(await putPart(uploadId, n, 'hello')).toMatchObject({ status: 400 });
    });

    it('can be aborted, even twice, and then accept nothing more', async () => {
      const uploadId = await start();
      await putPart(uploadId, 1, 'hello');
      for (let times = 0; times < 2; times += 1) {
        expect(await management.call('DELETE', `${objects()}/multipart/${uploadId}`)).toMatchObject({
          status: 200,
          body: { data: { uploadId, aborted: true } },
        });
      }
      for (const answer of [await putPart(uploadId, 1, 'hello'), await complete(uploadId)]) {
        expect(answer).toMatchObject({ status: 404, body: { data: { code: 'NoSuchUpload' } } });
      }
    });

    it('are visible only in their own bucket', async () => {
      const uploadId = await start();
      await management.call('POST', '/buckets', { body: { name: `${bucket}-other` } });
      const path = `/buckets/${bucket}-other/objects/multipart/${uploadId}/parts`;
      expect(await management.call('GET', path)).toMatchObject({
        status: 404,
        body: { data: { code: 'NoSuchUpload' } },
      });
    });

    it('recommend a part size that fits the object', () => {
      const limits = { parts: 10_000, part_min_bytes: 5 * 1024 * 1024 };
      expect(recommendedPartBytes(0, limits)).toBe(16 * 1024 * 1024);
      const largest = 5 * 1024 ** 4;
      expect(recommendedPartBytes(largest, limits) * limits.parts).toBeGreaterThanOrEqual(largest);
    });
  });

  it('encrypt where the bucket says so, and return the content', async () => {
    const name = `${bucket}-sealed`;
    const created = await post('/buckets', { name, encryption_mode: 'sse-s3' });
    expect(created).toMatchObject({ status: 201, body: { data: { encryption_mode: 'sse-s3' } } });
    const put = await management.call('PUT', `/buckets/${name}/objects/content?key=k`, {
      body: Buffer.from('a secret'),
      headers: { 'content-type': 'text/plain' },
    });
    expect(put).toMatchObject({ status: 201 });
    expect((await management.call('GET', `/buckets/${name}/objects/download?key=k`)).text).toBe('a secret');
    const { url } = (await post(`/buckets/${name}/objects/presign`, { key: 'k', method: 'GET' })).body.data;
    const got = await fetch(String(url));
    expect(got.headers.get('x-amz-server-side-encryption')).toBe('AES256');
    expect(await got.text()).toBe('a secret');
  });
});
