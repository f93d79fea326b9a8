import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { children, childText, parseXml } from '../../src/s3/xml-reader.ts';
import { sendRaw, signed, type RawAnswer, type RawRequest, type SigningOptions } from '../support/raw-request.ts';
import { startStore, type RunningStore, type TestKey } from '../support/running-store.ts';

/** Responses match AWS, or the RFC where AWS does not specify them. A rejected request changes nothing. */
describe('bad input', () => {
  let folder: TemporaryFolder;
  let store: RunningStore;
  let key: TestKey;
  let host: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    store = await startStore(folder.path);
    host = new URL(store.endpoint).host;
    key = await store.createKey({ workspaceUuid: randomUUID() });
    for (const bucket of ['bad', 'keys']) await send({ method: 'PUT', target: `/${bucket}` });
    await send({ method: 'PUT', target: '/bad/object', body: '0123456789' });
  });
  afterAll(async () => {
    await store.close();
    await folder.remove();
  });

  function send(raw: RawRequest, options: Partial<SigningOptions> = {}): Promise<RawAnswer> {
    return sendRaw(store.endpoint, signed(raw, { key, host, ...options }));
  }
  const refused = ({ status, code }: RawAnswer) => ({ status, code });
  const listKeys = async (bucket: string) => {
    const { body } = await send({ target: `/${bucket}?list-type=2&encoding-type=url` });
    const contents = children(parseXml(body.toString(), 'ListBucketResult'), 'Contents');
    return contents.map((element) => decodeURIComponent(childText(element, 'Key') ?? ''));
  };

  it.each<[what: string, encoded: string]>([
    ['two slashes', 'a//b'],
    ['a slash at the start', '/a'],
    ['a slash at the end', 'a/'],
    ['nothing but slashes', '//'],
    ['a dot', '.'],
    ['two dots', '..'],
    ['dots that lead up', '../../etc/passwd'],
    ['dots within', 'a/./b/../c'],
    ['a space', '%20'],
    ['a plus, which is no space in a path', 'a+b'],
    ['a percent sign that was encoded', 'a%252Fb'],
    ['an encoded slash', 'a%2Fb%2Fd'],
    ['signs of a query', '%3Fversions%26acl%23x'],
    ['a backslash', 'a%5Cb'],
    ['control characters', 'a%01%08%0A%0D%09%1F%7Fb'],
    ['signs of XML', '%3C%26%3E%22%27%5D%5D%3E'],
    ['an accent in one character', '%C3%A9'],
    ['an accent of its own', 'e%CC%81'],
    ['four bytes', '%F0%9F%98%80'],
    ['the last code point', '%F4%8F%BF%BF'],
    ['a byte order mark', '%EF%BB%BFa'],
    ['1,024 bytes', '%C3%A9'.repeat(512)],
  ])('accepts a key with %s unchanged', async (_what, encoded) => {
    const body = `content of ${encoded}`;
    const target = `/keys/${encoded}`;
    expect((await send({ method: 'PUT', target, body })).status).toBe(200);
    expect((await send({ target })).body.toString()).toBe(body);
    expect(await listKeys('keys')).toEqual([decodeURIComponent(encoded)]);
    expect((await send({ method: 'DELETE', target })).status).toBe(204);
    expect(await listKeys('keys')).toEqual([]);
  });

  it.each<[what: string, encoded: string, code: string]>([
    ['1,025 bytes', 'k'.repeat(1_025), 'KeyTooLongError'],
    ['1,026 bytes in 513 characters', '%C3%A9'.repeat(513), 'KeyTooLongError'],
    ['U+0000', 'a%00b', 'InvalidArgument'],
    ['a byte that is no UTF-8', 'a%FF', 'InvalidURI'],
    ['a character cut short', '%E2%82', 'InvalidURI'],
    ['an overlong character', '%C0%AF', 'InvalidURI'],
    ['half a surrogate pair', '%ED%A0%80', 'InvalidURI'],
    ['a code point beyond the last', '%F4%90%80%80', 'InvalidURI'],
    ['a percent sign alone', '%', 'InvalidURI'],
    ['an escape that is none', '%zz', 'InvalidURI'],
  ])('rejects a key with %s', async (_what, encoded, code) => {
    for (const method of ['PUT', 'GET', 'DELETE']) {
      const body = method === 'PUT' ? { body: 'x' } : {};
      expect(refused(await send({ method, target: `/keys/${encoded}`, ...body }))).toEqual({ status: 400, code });
    }
    expect(await listKeys('keys')).toEqual([]);
  });

  const documents: readonly [operation: string, raw: RawRequest, root: string][] = [
    ['DeleteObjects', { method: 'POST', target: '/bad?delete' }, 'Delete'],
    ['PutBucketVersioning', { method: 'PUT', target: '/bad?versioning' }, 'VersioningConfiguration'],
    ['PutBucketTagging', { method: 'PUT', target: '/bad?tagging' }, 'Tagging'],
    ['PutObjectTagging', { method: 'PUT', target: '/bad/object?tagging' }, 'Tagging'],
    ['PutBucketLifecycleConfiguration', { method: 'PUT', target: '/bad?lifecycle' }, 'LifecycleConfiguration'],
    ['CompleteMultipartUpload', { method: 'POST', target: '/bad/object?uploadId=none' }, 'CompleteMultipartUpload'],
    ['CreateBucket', { method: 'PUT', target: '/another-bucket' }, 'CreateBucketConfiguration'],
  ];
  it('rejects an oversized document before reading it', async () => {
    const body = `<VersioningConfiguration>${' '.repeat(2 * 1024 * 1024)}</VersioningConfiguration>`;
    const answer = await send({ method: 'PUT', target: '/bad?versioning', body });
    expect(refused(answer)).toEqual({ status: 400, code: 'MaxMessageLengthExceeded' });
  });

  it.each(documents)('rejects every malformed document for %s', async (_operation, raw, root) => {
    const malformed: readonly (string | Buffer)[] = [
      'no XML at all',
      `<${root}>`,
      `<${root}></${root}><${root}></${root}>`,
      '<Other/>',
      `<!DOCTYPE ${root} [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><${root}>&b;</${root}>`,
      `<${root}>${'<a>'.repeat(100)}${'</a>'.repeat(100)}</${root}>`,
      Buffer.concat([Buffer.from(`<${root}><Key>`), Buffer.from([0xff]), Buffer.from(`</Key></${root}>`)]),
    ];
    for (const body of malformed) {
      expect([String(body).slice(0, 60), refused(await send({ ...raw, body }))]).toEqual([
        String(body).slice(0, 60),
        { status: 400, code: 'MalformedXML' },
      ]);
    }
    expect((await send({ target: '/bad/object' })).body.toString()).toBe('0123456789');
    expect((await send({ method: 'HEAD', target: '/another-bucket' })).status).toBe(404);
  });

  it.each<[what: string, document: string]>([
    ['no object', '<Delete/>'],
    ['an object without a key', '<Delete><Object><VersionId>null</VersionId></Object></Delete>'],
    ['an empty key', '<Delete><Object><Key></Key></Object></Delete>'],
    ['two keys in one object', '<Delete><Object><Key>object</Key><Key>b</Key></Object></Delete>'],
    ['more than a thousand', `<Delete>${'<Object><Key>object</Key></Object>'.repeat(1_001)}</Delete>`],
  ])('deletes nothing when the list has %s', async (_what, document) => {
    const answer = await send({ method: 'POST', target: '/bad?delete', body: document });
    expect(refused(answer)).toEqual({ status: 400, code: 'MalformedXML' });
    expect((await send({ method: 'HEAD', target: '/bad/object' })).status).toBe(200);
  });

  it.each<[what: string, header: string, status: number, body: string | undefined]>([
    ['a first and a last byte', 'bytes=2-4', 206, '234'],
    ['a last byte beyond the end', 'bytes=8-99', 206, '89'],
    ['a suffix', 'bytes=-3', 206, '789'],
    ['a suffix longer than all', 'bytes=-30', 206, '0123456789'],
    ['nothing that is there', 'bytes=10-', 416, undefined],
    ['a suffix of nothing', 'bytes=-0', 416, undefined],
    ['a last byte before the first', 'bytes=4-2', 200, '0123456789'],
    ['several ranges', 'bytes=0-1,3-4', 200, '0123456789'],
    ['another unit', 'lines=1-2', 200, '0123456789'],
    ['no number', 'bytes=a-b', 200, '0123456789'],
    ['a number beyond all sense', `bytes=${'9'.repeat(40)}-`, 200, '0123456789'],
  ])('answers a range request with %s', async (_what, range, status, body) => {
    const answer = await send({ target: '/bad/object', headers: { range } });
    expect([answer.status, body === undefined ? answer.code : answer.body.toString()]).toEqual([
      status,
      body ?? 'InvalidRange',
    ]);
    if (status === 416) expect(answer.headers['content-range']).toBe('bytes */10');
  });

  it.each<[what: string, headers: Record<string, string>, code: string]>([
    ['an MD5 that is none', { 'content-md5': 'bm90IG1kNQ==' }, 'InvalidDigest'],
    ['an MD5 of something else', { 'content-md5': 'rL0Y20zC+Fzt72VPzMSk2A==' }, 'BadDigest'],
    ['a checksum that is no base64', { 'x-amz-checksum-crc32': 'not base64!' }, 'InvalidRequest'],
    ['an empty checksum', { 'x-amz-checksum-sha256': '' }, 'InvalidRequest'],
    ['a checksum of another length', { 'x-amz-checksum-crc32': 'AAAA' }, 'BadDigest'],
    ['a checksum of something else', { 'x-amz-checksum-crc64nvme': 'AAAAAAAAAAA=' }, 'BadDigest'],
  ])('rejects %s and keeps the existing object', async (_what, headers, code) => {
    const answer = await send({ method: 'PUT', target: '/bad/object', body: 'another', headers });
    expect(refused(answer)).toEqual({ status: 400, code });
    expect((await send({ target: '/bad/object' })).body.toString()).toBe('0123456789');
  });

  it.each<[what: string, decodedBytes: number]>([
    ['shorter', 11],
    ['longer', 9],
  ])('rejects chunks with a %s body than declared', async (_what, decodedBytes) => {
    const answer = await send(
      {
        method: 'PUT',
        target: '/bad/object',
        body: 'a\r\nabcdefghij\r\n0\r\n\r\n',
        headers: { 'x-amz-decoded-content-length': String(decodedBytes), 'content-encoding': 'aws-chunked' },
      },
      { payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' },
    );
    expect(refused(answer)).toEqual({ status: 400, code: 'IncompleteBody' });
    expect((await send({ target: '/bad/object' })).body.toString()).toBe('0123456789');
  });

  it('never stores more than declared: the excess starts the next request', async () => {
    const request = signed(
      { method: 'PUT', target: '/bad/long', headers: { 'content-length': '5' } },
      { key, host, payloadHash: 'UNSIGNED-PAYLOAD' },
    );
    const lines = Object.entries(request.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = connect(store.port, '127.0.0.1');
    await once(socket, 'connect');
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.write(`PUT ${request.target} HTTP/1.1\r\n${lines.join('')}\r\nhello and more than that\r\n\r\n`);
    await once(socket, 'close');
    expect(text).toMatch(/HTTP\/1.1 400 /);
    const answer = await send({ target: '/bad/long' });
    expect(answer.status === 200 ? answer.body.toString() : answer.code).toBeOneOf(['hello', 'NoSuchKey']);
    expect(await store.module.fsck()).toMatchObject({ clean: true });
  });

  it('accepts non-ASCII metadata, signed as sent or as the UTF-8 form of Latin-1', async () => {
    const value = 'Grüße';
    // Sent as bytes: with a string body, Node encodes the headers like the body.
    const request = { method: 'PUT', body: Buffer.from('x'), headers: { 'x-amz-meta-text': value } };
    const bytes = Buffer.from(value).toString('latin1');
    for (const [name, sent] of [
      ['utf-8', bytes],
      ['latin-1', value],
    ] as const) {
      const asUtf8 = signed({ ...request, target: `/bad/${name}` }, { key, host });
      const headers = { ...asUtf8.headers, 'x-amz-meta-text': sent };
      expect([name, (await sendRaw(store.endpoint, { ...asUtf8, headers })).status]).toEqual([name, 200]);
      const head = await send({ method: 'HEAD', target: `/bad/${name}` });
      expect(head.headers['x-amz-meta-text']).toBe(sent);
    }
  });
});
