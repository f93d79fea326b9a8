import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startManagement, type RunningManagement } from '../support/running-management.ts';
import { sendRaw, signed, type RawAnswer, type RawRequest } from '../support/raw-request.ts';
import { testConfig, type TestKey } from '../support/running-store.ts';

const BUCKET = 'types';
const BOUNDARY = 'a-boundary-of-this-test';
const INVALID = [
  'image/png, text/html',
  'image/png text/html',
  'html',
  'text/html; x',
  'text/plain; charset=a; charset=b',
];
/** A valid type that is in no registry, in unusual spelling. */
const VALID = 'Text/X-Own; Charset="utf-8"';
const SANDBOX = "sandbox; default-src 'none'";

interface Refusal {
  status: number;
  text: string;
}

describe('the content type of an object', () => {
  let management: RunningManagement;
  let key: TestKey;
  let host: string;
  beforeAll(async () => {
    const limits = { ...testConfig().limits, management_requests_per_second: 10_000 };
    management = await startManagement({ limits }, new Date().toISOString());
    key = await management.store.createKey({ workspaceUuid: management.tenantId });
    host = new URL(management.store.endpoint).host;
    await management.call('POST', '/buckets', { body: { name: BUCKET } });
    await s3({ method: 'PUT', target: `/${BUCKET}/source`, body: 'x', headers: { 'content-type': 'text/plain' } });
    await s3({ method: 'PUT', target: '/open-types', headers: { 'x-amz-acl': 'public-read-write' } });
  });
  afterAll(() => management.close());

  const s3 = (raw: RawRequest): Promise<RawAnswer> => sendRaw(management.store.endpoint, signed(raw, { key, host }));
  const s3Refusal = async (raw: RawRequest): Promise<Refusal> => {
    const { status, body } = await s3(raw);
    return { status, text: body.toString() };
  };
  const call = async (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Refusal> => {
    const { status, text } = await management.call('POST', `/buckets/${BUCKET}/objects${path}`, { body, headers });
    return { status, text };
  };
  const renderForm = (fields: Record<string, string>, fileType: string): Buffer => {
    const written = Object.entries(fields).map(
      ([name, value]) => `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const file = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="f"\r\ncontent-type: ${fileType}\r\n\r\nx\r\n`;
    return Buffer.from(`${written.join('')}${file}--${BOUNDARY}--\r\n`);
  };
  const formHeaders = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };

  const writePaths: Readonly<Record<string, (type: string) => Promise<Refusal>>> = {
    'S3 PutObject': (type) =>
      s3Refusal({ method: 'PUT', target: `/${BUCKET}/new`, body: 'x', headers: { 'content-type': type } }),
    'S3 CopyObject with REPLACE': (type) =>
      s3Refusal({
        method: 'PUT',
        target: `/${BUCKET}/new`,
        headers: {
          'content-type': type,
          'x-amz-copy-source': `/${BUCKET}/source`,
          'x-amz-metadata-directive': 'REPLACE',
        },
      }),
    'S3 CreateMultipartUpload': (type) =>
      s3Refusal({ method: 'POST', target: `/${BUCKET}/new?uploads`, headers: { 'content-type': type } }),
    'S3 form': async (type) => {
      const body = renderForm({ key: 'new', 'Content-Type': type }, 'text/plain');
      const headers = { ...formHeaders, 'content-length': String(body.length) };
      const answer = await sendRaw(management.store.endpoint, { method: 'POST', target: '/open-types', headers, body });
      return { status: answer.status, text: answer.body.toString() };
    },
    'management PUT': async (type) => {
      const path = `/buckets/${BUCKET}/objects/content?key=new`;
      const { status, text } = await management.call('PUT', path, { body: 'x', headers: { 'content-type': type } });
      return { status, text };
    },
    'management form': (type) => call('', renderForm({ key: 'new', content_type: type }, 'text/plain'), formHeaders),
    'management multipart upload': (type) => call('/multipart', { key: 'new', content_type: type }),
    'management presign': (type) => call('/presign', { key: 'new', content_type: type }),
    'management presign of parts': (type) =>
      call('/presign', { key: 'new', content_type: type, multipart: { parts: 1 } }),
  };

  it.each(Object.entries(writePaths))(
    '%s accepts only a single media type, and names the field otherwise',
    async (_, write) => {
      for (const type of INVALID) {
        const { status, text } = await write(type);
        expect({ type, status, text }).toEqual({
          type,
          status: expect.toSatisfy((code: number) => code === 400 || code === 415),
          text: expect.stringMatching(/content[-_]type/i),
        });
      }
      expect((await write(VALID)).status).toBeLessThan(300);
      expect((await s3({ method: 'HEAD', target: `/${BUCKET}/absent` })).status).toBe(404);
    },
  );

  it('is returned as written', async () => {
    await s3({ method: 'PUT', target: `/${BUCKET}/kept`, body: 'x', headers: { 'content-type': VALID } });
    expect((await s3({ target: `/${BUCKET}/kept` })).headers).toMatchObject({ 'content-type': VALID });
  });

  it('makes pages attachments for anyone but an S3 client, with or without overrides', async () => {
    const headers = { 'content-type': 'text/html', 'x-amz-acl': 'public-read', 'content-disposition': 'inline' };
    await s3({ method: 'PUT', target: `/${BUCKET}/page`, body: '<script>', headers });
    const isolated = { 'content-security-policy': SANDBOX, 'x-content-type-options': 'nosniff' };
    const saved = { ...isolated, 'content-disposition': 'attachment' };
    const anonymous = await sendRaw(management.store.endpoint, { target: `/${BUCKET}/page` });
    expect(anonymous.headers).toMatchObject({ ...saved, 'cross-origin-resource-policy': 'cross-origin' });
    const head = await sendRaw(management.store.endpoint, { method: 'HEAD', target: `/${BUCKET}/page` });
    expect(head.headers).toMatchObject(saved);
    const range = { target: `/${BUCKET}/page`, headers: { range: 'bytes=0-1' } };
    expect(await sendRaw(management.store.endpoint, range)).toMatchObject({ status: 206, headers: saved });
    const known = { target: `/${BUCKET}/page`, headers: { 'if-none-match': String(anonymous.headers.etag) } };
    const unchanged = await sendRaw(management.store.endpoint, known);
    expect(unchanged).toMatchObject({ status: 304, headers: isolated });
    expect(unchanged.headers).not.toHaveProperty('content-type');
    const refused = await sendRaw(management.store.endpoint, { target: `/${BUCKET}/<script>` });
    expect(refused).toMatchObject({ status: 403, headers: isolated });

    const body = { key: 'page', method: 'GET' };
    const { body: presigned } = await management.call('POST', `/buckets/${BUCKET}/objects/presign`, { body });
    const { pathname, search } = new URL(String(presigned.data['url']));
    const opened = await sendRaw(management.store.endpoint, { target: `${pathname}${search}`, headers: { host } });
    expect(opened).toMatchObject({ status: 200, headers: saved });

    const own = await s3({ target: `/${BUCKET}/page` });
    expect(own.headers).toMatchObject({ ...isolated, 'content-type': 'text/html', 'content-disposition': 'inline' });
    const overridden = await s3({
      target: `/${BUCKET}/page?response-content-type=text%2Fplain%2C%20text%2Fhtml&response-content-disposition=inline`,
    });
    expect(overridden.headers).toMatchObject({ ...isolated, 'content-type': 'application/octet-stream' });
  });

  it('keeps scripts from running in the console, but is unchanged for other sites', async () => {
    const headers = { 'content-type': 'text/javascript', 'x-amz-acl': 'public-read' };
    await s3({ method: 'PUT', target: `/${BUCKET}/program.js`, body: '1', headers });
    const url = `/api/v1/public/object-store/t/${management.tenantId}/objects/program.js?bucket=${BUCKET}`;
    const typeFor = async (sent: Record<string, string>): Promise<unknown> => {
      const answer = await management.app.inject({ method: 'GET', url, headers: sent });
      expect(answer.headers).toMatchObject({ vary: 'cookie, sec-fetch-site', 'content-security-policy': SANDBOX });
      return answer.headers['content-type'];
    };
    expect(await typeFor({})).toBe('text/javascript');
    expect(await typeFor({ 'sec-fetch-site': 'cross-site' })).toBe('text/javascript');
    expect(await typeFor({ 'sec-fetch-site': 'same-origin' })).toBe('application/octet-stream');
    expect(await typeFor({ cookie: 'svc_session=x' })).toBe('application/octet-stream');
  });
});
