import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { renderHead, openConnection, type RawConnection } from '../support/raw-connection.ts';
import { sendRaw, signed, type RawAnswer, type RawRequest } from '../support/raw-request.ts';
import { startStore, type RunningStore, type TestKey } from '../support/running-store.ts';

describe('connections of the S3 plane', () => {
  let folder: TemporaryFolder;
  let store: RunningStore;
  let key: TestKey;
  let host: string;
  const connections: RawConnection[] = [];

  beforeAll(async () => {
    folder = await temporaryFolder();
    store = await startStore(folder.path);
    host = new URL(store.endpoint).host;
    key = await store.createKey({ workspaceUuid: randomUUID() });
    await send({ method: 'PUT', target: '/wires' });
    await send({ method: 'PUT', target: '/wires/there', body: 'before' });
  });
  afterEach(() => {
    for (const { socket } of connections.splice(0)) socket.destroy();
  });
  afterAll(async () => {
    await store.close();
    await folder.remove();
  });

  const sign = (raw: RawRequest) => signed(raw, { key, host, payloadHash: 'UNSIGNED-PAYLOAD' });
  const send = (raw: RawRequest): Promise<RawAnswer> => sendRaw(store.endpoint, sign(raw));
  const renderRequest = (raw: RawRequest): Buffer => {
    const body = Buffer.from(raw.body ?? '');
    const headers = { ...raw.headers, ...(body.length === 0 ? {} : { 'content-length': String(body.length) }) };
    return Buffer.concat([renderHead(sign({ ...raw, headers })), body]);
  };
  const opened = async (...first: Buffer[]): Promise<RawConnection> => await openedAt(store.port, ...first);
  const openedAt = async (port: number, ...first: Buffer[]): Promise<RawConnection> => {
    const connection = await openConnection(port);
    connections.push(connection);
    connection.socket.write(Buffer.concat(first));
    return connection;
  };
  const answersIn = (text: string): string[] => text.split(/(?=HTTP\/1\.1 \d{3})/).filter((piece) => piece !== '');
  const untilAnswers = async (connection: RawConnection, count: number): Promise<string[]> => {
    await waitFor(() => Promise.resolve(answersIn(connection.text()).length >= count));
    return answersIn(connection.text());
  };

  it('process pipelined requests in order', async () => {
    const connection = await opened(
      renderRequest({ method: 'PUT', target: '/wires/order', body: 'first' }),
      renderRequest({ target: '/wires/order' }),
      renderRequest({ method: 'PUT', target: '/wires/order', body: 'second' }),
      renderRequest({ target: '/wires/order' }),
      renderRequest({ method: 'DELETE', target: '/wires/order' }),
      renderRequest({ target: '/wires/order' }),
    );
    const answers = await untilAnswers(connection, 6);
    expect(answers.map((answer) => answer.slice(9, 12))).toEqual(['200', '200', '200', '200', '204', '404']);
    expect([answers[1]?.endsWith('first'), answers[3]?.endsWith('second')]).toEqual([true, true]);
  });

  it('stay open after an error if the rejected body arrived in full', async () => {
    const md5 = { 'content-md5': createHash('md5').update('other').digest('base64') };
    const connection = await opened(
      renderRequest({ method: 'PUT', target: '/wires/refused', body: 'content', headers: md5 }),
      renderRequest({ target: '/wires/there' }),
    );
    const [refusal, next] = await untilAnswers(connection, 2);
    expect(refusal).toMatch(/^HTTP\/1\.1 400 [^]*<Code>BadDigest</);
    expect(next).toMatch(/^HTTP\/1\.1 200 [^]*before$/);
  });

  it('close after a response that skips the body, and ignore requests pipelined behind it', async () => {
    const refused = { method: 'PUT', target: '/absent-bucket/x', body: randomBytes(100_000) };
    const connection = await opened(
      renderRequest(refused),
      renderRequest({ method: 'DELETE', target: '/wires/there' }),
    );
    const text = await connection.closed();
    expect(answersIn(text)).toHaveLength(1);
    expect(text).toMatch(/^HTTP\/1\.1 404 [^]*connection: close[^]*<Code>NoSuchBucket</i);
    expect((await send({ target: '/wires/there' })).body.toString()).toBe('before');
  });

  it.each([
    ['a plain body', { headers: { 'content-length': '1000' } }, 'x'.repeat(999)],
    ['a large one', { headers: { 'content-length': '900000' } }, 'x'.repeat(800_000)],
    ['one in chunks of HTTP', { headers: { 'transfer-encoding': 'chunked' } }, '3e8\r\nshort'],
    ['a form', { method: 'POST', target: '/wires', headers: { 'content-length': '500' } }, '--x\r\n'],
  ])('answer IncompleteBody when %s is cut short, and store nothing of it', async (_, raw, sent) => {
    const form = { 'content-type': 'multipart/form-data; boundary=x' };
    const decoded = { 'x-amz-decoded-content-length': '1000' };
    const request = { method: 'PUT', target: '/wires/cut', ...raw, headers: { ...form, ...decoded, ...raw.headers } };
    const head = renderHead(
      'transfer-encoding' in raw.headers
        ? signed(request, { key, host, payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' })
        : sign(request),
    );
    const connection = await opened(head, Buffer.from(sent));
    connection.socket.end();
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 400 [^]*<Code>IncompleteBody<[^]*<\/Error>$/);
    expect((await send({ target: '/wires/cut' })).code).toBe('NoSuchKey');
  });

  it('answer RequestTimeout to a stalled body and to headers that never end', async () => {
    const other = await temporaryFolder();
    const limits = { minBodyBytesPerSecond: 1_000, bodyRateWindowMs: 40, headersTimeoutMs: 200 };
    const impatient = await startStore(other.path, { limits });
    try {
      const own = await impatient.createKey({ workspaceUuid: randomUUID() });
      const options = { key: own, host, payloadHash: 'UNSIGNED-PAYLOAD' };
      await sendRaw(impatient.endpoint, signed({ method: 'PUT', target: '/slow' }, options));
      const put = { method: 'PUT', target: '/slow/upload', headers: { 'content-length': '1000' } };
      const body = await openedAt(impatient.port, renderHead(signed(put, options)), Buffer.from('a few'));
      expect(await body.closed()).toMatch(/^HTTP\/1\.1 400 [^]*<Code>RequestTimeout</);
      const head = await openedAt(impatient.port, Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n'));
      expect(await head.closed()).toMatch(/^HTTP\/1\.1 400 [^]*<Code>RequestTimeout</);
      const absent = await sendRaw(impatient.endpoint, signed({ target: '/slow/upload' }, options));
      expect(absent.code).toBe('NoSuchKey');
    } finally {
      await impatient.close();
      await other.remove();
    }
  });

  it.each([
    ['what is no HTTP', 'nonsense\r\n\r\n', 'BadRequest'],
    ['two lengths', 'PUT /wires/x HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 'BadRequest'],
    [
      'a length and an encoding',
      'PUT /wires/x HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      'BadRequest',
    ],
    ['a negative length', 'PUT /wires/x HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n', 'BadRequest'],
    [
      'a head without bounds',
      `GET / HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(100_000)}\r\n\r\n`,
      'RequestHeaderSectionTooLarge',
    ],
  ])('are closed with an S3 error after %s', async (_, text, code) => {
    const connection = await opened(Buffer.from(text));
    expect(await connection.closed()).toMatch(
      new RegExp(`^HTTP/1\\.1 400 [^]*content-type: application/xml[^]*<Code>${code}<`),
    );
  });
});
