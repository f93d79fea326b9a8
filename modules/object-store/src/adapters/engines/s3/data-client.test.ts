import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { systemClock } from '@svc/runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataClient } from './data-client.ts';
import type { S3EngineOptions } from './options.ts';

let server: Server;
let client: DataClient;
let requests: IncomingMessage[];
/** Answers one request after the other; the last one answers all that follow. */
let answers: ((request: IncomingMessage, response: ServerResponse) => void)[];

const ok =
  (body = '') =>
  (_request: IncomingMessage, response: ServerResponse) =>
    void response.end(body);
const fail = (status: number, body: string) => (_request: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(status).end(body);
const silent = (): void => undefined;

function open(options: Partial<S3EngineOptions> = {}): DataClient {
  return new DataClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on TCP
    region: 'us-east-1',
    bucket: 'blobs',
    prefix: '',
    accessKeyId: 'key',
    secretAccessKey: 'secret',
    pathStyle: true,
    connectTimeoutMs: 1_000,
    requestTimeoutMs: 5_000,
    maxAttempts: 3,
    maxConnections: 8,
    uploadMemoryBytes: 1024,
    partBytes: 1024,
    random: (size) => Buffer.alloc(size), // repeats at once
    clock: systemClock,
    ...options,
  });
}

beforeEach(async () => {
  requests = [];
  answers = [ok()];
  server = createServer((request, response) => {
    requests.push(request);
    (answers.length > 1 ? answers.shift() : answers[0])?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = open();
});

afterEach(async () => {
  client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('a request with the bytes of a blob', () => {
  it('has the hash of its body signed, and streams the answer', async () => {
    let received = Buffer.alloc(0);
    answers = [
      (request, response) =>
        void buffer(request).then((body) => {
          received = body;
          response.end('stored');
        }),
    ];
    const body = [Buffer.from('hello '), Buffer.from('world')];
    const parameters = [{ name: 'partNumber', value: '1' }];
    const response = await client.send({ method: 'PUT', key: 'a b/c', parameters, body });
    expect(String(await response.body.next())).toBe('stored');
    expect(await response.body.next()).toBeNull();
    expect(String(received)).toBe('hello world');
    expect(requests[0]?.url).toBe('/blobs/a%20b/c?partNumber=1');
    expect(requests[0]?.headers).toMatchObject({
      'content-length': '11',
      'x-amz-content-sha256': 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
      authorization: expect.stringContaining('SignedHeaders=host;x-amz-content-sha256;x-amz-date') as string,
    });
  });

  it('names the bucket in the host on request', async () => {
    const { port } = server.address() as AddressInfo;
    client = open({ endpoint: `http://localhost:${port}`, pathStyle: false });
    // `blobs.localhost` resolves on some machines only, but the error names what was asked for.
    const outcome = await client.send({ method: 'GET', key: 'k' }).then(
      () => requests[0]?.headers.host,
      (error: unknown) => `${(error as { hostname?: string }).hostname ?? ''}:${port}`,
    );
    expect(outcome).toBe(`blobs.localhost:${port}`);
  });

  it('is repeated after a fault of the engine, with the whole body', async () => {
    const bodies: string[] = [];
    const note = (request: IncomingMessage): void => void text(request).then((body) => bodies.push(body));
    answers = [
      (request, response) => (note(request), fail(503, '<Error><Code>SlowDown</Code></Error>')(request, response)),
      (request) => (note(request), request.socket.destroy()),
      (request, response) => (note(request), ok()(request, response)),
    ];
    const response = await client.send({ method: 'PUT', key: 'k', body: [Buffer.from('x')] });
    await response.body.drain();
    expect(requests).toHaveLength(3);
    await expect.poll(() => bodies.filter((body) => body === 'x').length).toBeGreaterThanOrEqual(2);
  });

  describe('and a checksum', () => {
    const crc64nvme = Buffer.from('0123456789abcdef', 'hex');
    const checksum = crc64nvme.toString('base64');
    const header = 'x-amz-checksum-crc64nvme';
    const confirm = (_request: IncomingMessage, response: ServerResponse): void =>
      void response.setHeader(header, checksum).end();
    const put = async (): Promise<void> => {
      const response = await client.send({ method: 'PUT', key: 'k', body: [Buffer.from('x')], crc64nvme });
      await response.body.drain();
    };
    /** Of each request: whether the hash of its body is signed, and whether it has the checksum. */
    const seen = () =>
      requests.map(({ headers }) => ({
        hashed: headers['x-amz-content-sha256'] !== 'UNSIGNED-PAYLOAD',
        checked: headers[header] === checksum,
      }));

    it('has no signed hash once the engine confirms the checksum', async () => {
      answers = [confirm];
      for (let time = 0; time < 3; time += 1) await put();
      const later = { hashed: false, checked: true };
      expect(seen()).toEqual([{ hashed: true, checked: true }, later, later]);
    });

    it('always has a signed hash if the engine ignores the checksum', async () => {
      for (let time = 0; time < 2; time += 1) await put();
      expect(seen()).toEqual([
        { hashed: true, checked: true },
        { hashed: true, checked: false },
      ]);
    });

    it.each([400, 501])('is sent again without it to an engine that refuses it with %s', async (status) => {
      answers = [fail(status, '<Error><Code>NotImplemented</Code></Error>'), ok()];
      for (let time = 0; time < 2; time += 1) await put();
      const without = { hashed: true, checked: false };
      expect(seen()).toEqual([{ hashed: true, checked: true }, without, without]);
    });

    it('is sent again with its hash if the engine no longer confirms it', async () => {
      answers = [confirm, ok()];
      for (let time = 0; time < 2; time += 1) await put();
      expect(seen().slice(1)).toEqual([
        { hashed: false, checked: true },
        { hashed: true, checked: false },
      ]);
    });

    it('fails if the engine refuses the body for another reason', async () => {
      answers = [confirm, fail(400, '<Error><Code>BadDigest</Code></Error>')];
      await put();
      await expect(put()).rejects.toMatchObject({ status: 400, code: 'BadDigest' });
      expect(requests).toHaveLength(2);
    });
  });

  it('is not repeated more often than configured', async () => {
    answers = [fail(500, '')];
    await expect(client.send({ method: 'GET', key: 'k' })).rejects.toMatchObject({ status: 500, code: '' });
    expect(requests).toHaveLength(3);
  });

  it.each([
    [404, '<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>', 'NoSuchKey'],
    [416, '', ''],
    [403, 'x'.repeat(1024 * 1024), ''],
  ])('fails at once with status %s', async (status, body, code) => {
    answers = [fail(status, body)];
    await expect(client.send({ method: 'GET', key: 'k' })).rejects.toMatchObject({ status, code });
    expect(requests).toHaveLength(1);
  });

  it('fails if the engine does not answer in time', async () => {
    answers = [silent];
    client = open({ requestTimeoutMs: 50, maxAttempts: 2 });
    await expect(client.send({ method: 'GET', key: 'k' })).rejects.toThrow('did not answer in time');
    expect(requests).toHaveLength(2);
  });

  it('fails with the status if the rest of a refusal does not arrive in time', async () => {
    answers = [(_request, response) => void response.writeHead(403, { 'content-length': '100' }).write('<Error>')];
    client = open({ requestTimeoutMs: 50 });
    await expect(client.send({ method: 'GET', key: 'k' })).rejects.toMatchObject({ status: 403, code: '' });
    expect(requests).toHaveLength(1);
  });

  it('fails if the engine switches protocols without being asked', async () => {
    server.on('connection', (socket) => {
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      );
    });
    answers = [silent];
    client = open({ maxAttempts: 1 });
    await expect(client.send({ method: 'GET', key: 'k' })).rejects.toThrow('bad upgrade');
  });

  it('fails if the engine is away', async () => {
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    await expect(client.send({ method: 'GET', key: 'k' })).rejects.toThrow(`ECONNREFUSED 127.0.0.1:${port}`);
    server.listen(port, '127.0.0.1');
  });
});
