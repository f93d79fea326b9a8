import { createHash, hash, randomBytes, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { chunkStringToSign, credentialScope, deriveSigningKey } from '@svc/s3-sign';
import { temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRaw, signed, type RawAnswer, type RawRequest, type SigningOptions } from '../support/raw-request.ts';
import { startStore, type RunningStore, type TestKey } from '../support/running-store.ts';

describe('upload bodies', () => {
  let folder: TemporaryFolder;
  let store: RunningStore;
  let key: TestKey;
  let host: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    store = await startStore(folder.path, { config: { sweep_grace_seconds: 0 } });
    host = new URL(store.endpoint).host;
    key = await store.createKey({ workspaceUuid: randomUUID() });
    await send({ method: 'PUT', target: '/bodies' });
  });
  afterAll(async () => {
    await store.close();
    await folder.remove();
  });

  function send(raw: RawRequest, options: Partial<SigningOptions> = {}): Promise<RawAnswer> {
    return sendRaw(store.endpoint, signed(raw, { key, host, ...options }));
  }
  const put = (name: string, body: Uint8Array | string, headers: Record<string, string> = {}, options = {}) =>
    send({ method: 'PUT', target: `/bodies/${name}`, body, headers }, options);
  const stored = async (name: string) => {
    const answer = await send({ target: `/bodies/${name}` });
    return answer.status === 200 ? answer.body : null;
  };
  const refused = ({ status, code }: RawAnswer) => ({ status, code });

  it.each([10, 200_000, 2_000_000])('verifies %i bytes against every declared checksum', async (size) => {
    const body = randomBytes(size);
    const md5 = createHash('md5').update(body).digest('base64');
    const crc = Buffer.alloc(4);
    crc.writeUInt32BE(crc32(body));
    const promises = {
      'content-md5': md5,
      'x-amz-checksum-crc32': crc.toString('base64'),
    };
    const right = await put('promised', body, promises);
    expect(right.status).toBe(200);
    expect(right.headers['x-amz-checksum-crc32']).toBe(promises['x-amz-checksum-crc32']);
    expect((await stored('promised'))?.equals(body)).toBe(true);

    const other = Buffer.from(body);
    other[size - 1] = (other[size - 1] ?? 0) ^ 1;
    const otherMd5 = createHash('md5').update(other).digest('base64');
    expect(refused(await put('broken', body, { 'content-md5': otherMd5 }))).toEqual({ status: 400, code: 'BadDigest' });
    expect(refused(await put('broken', other, { 'x-amz-checksum-crc32': promises['x-amz-checksum-crc32'] }))).toEqual({
      status: 400,
      code: 'BadDigest',
    });
    const wrongHash = { payloadHash: createHash('sha256').update(other).digest('hex') };
    expect(refused(await put('broken', body, {}, wrongHash))).toEqual({
      status: 400,
      code: 'XAmzContentSHA256Mismatch',
    });
    expect(await stored('broken')).toBeNull();
  });

  it.each([
    ['content-md5', 'short', 'InvalidDigest'],
    ['x-amz-checksum-crc32', 'AAAA', 'BadDigest'],
    ['x-amz-checksum-crc32', 'A!', 'InvalidRequest'],
    ['x-amz-checksum-sha256', 'not base64!', 'InvalidRequest'],
  ])('rejects a malformed %s', async (header, value, code) => {
    expect(refused(await put('malformed', 'x', { [header]: value }))).toEqual({ status: 400, code });
  });

  it('rejects two checksums, and one of another algorithm than declared', async () => {
    const both = { 'x-amz-checksum-crc32': 'AAAAAA==', 'x-amz-checksum-crc32c': 'AAAAAA==' };
    expect(refused(await put('two', '', both))).toEqual({ status: 400, code: 'InvalidRequest' });
    const other = { 'x-amz-checksum-crc32': 'AAAAAA==', 'x-amz-sdk-checksum-algorithm': 'SHA256' };
    expect(refused(await put('two', '', other))).toEqual({ status: 400, code: 'InvalidRequest' });
  });

  it('stores a CRC64NVME for an upload without a checksum', async () => {
    const answer = await put('plain', '123456789');
    expect(answer.headers['x-amz-checksum-crc64nvme']).toBe(Buffer.from('ae8b14860a799888', 'hex').toString('base64'));
    expect(answer.headers['x-amz-checksum-type']).toBe('FULL_OBJECT');
  });

  it('rejects oversized user metadata, and oversized bodies before their first byte arrives', async () => {
    expect(refused(await put('meta', 'x', { 'x-amz-meta-a': 'v'.repeat(2_048) }))).toMatchObject({
      code: 'MetadataTooLarge',
    });
    const head = signed(
      { method: 'PUT', target: '/bodies/huge', headers: { 'content-length': '6000000000' } },
      { key, host, payloadHash: 'UNSIGNED-PAYLOAD' },
    );
    const socket = await openSocket(renderHead(head));
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1.1 400 [^]*<Code>EntityTooLarge<\/Code>/);
  });

  describe('chunked bodies', () => {
    const chunked = (payloadHash: string, decodedLength: number, extra: Record<string, string> = {}) => ({
      headers: { 'content-encoding': 'aws-chunked', 'x-amz-decoded-content-length': String(decodedLength), ...extra },
      options: { payloadHash },
    });

    it('accepts unsigned chunks with a trailing checksum, as the SDKs send them', async () => {
      const body = randomBytes(1_000);
      const crc = Buffer.alloc(4);
      crc.writeUInt32BE(crc32(body));
      const value = crc.toString('base64');
      const frame = (checksum: string) =>
        Buffer.concat([Buffer.from('3e8\r\n'), body, Buffer.from(`\r\n0\r\nx-amz-checksum-crc32:${checksum}\r\n\r\n`)]);
      const { headers, options } = chunked('STREAMING-UNSIGNED-PAYLOAD-TRAILER', 1_000, {
        'x-amz-trailer': 'x-amz-checksum-crc32',
      });
      const answer = await put('trailer', frame(value), headers, options);
      expect([answer.status, answer.headers['x-amz-checksum-crc32']]).toEqual([200, value]);
      expect((await stored('trailer'))?.equals(body)).toBe(true);
      const head = await send({ method: 'HEAD', target: '/bodies/trailer' });
      expect(head.headers['content-encoding']).toBeUndefined();
      expect(refused(await put('trailer-2', frame('AAAAAA=='), headers, options))).toEqual({
        status: 400,
        code: 'BadDigest',
      });
      const without = Buffer.concat([Buffer.from('3e8\r\n'), body, Buffer.from('\r\n0\r\n\r\n')]);
      expect(refused(await put('trailer-2', without, headers, options))).toEqual({
        status: 400,
        code: 'MalformedTrailerError',
      });
      expect(await stored('trailer-2')).toBeNull();
    });

    it('verifies the signature of each chunk', async () => {
      const build = (tamper: (chunk: Buffer, index: number) => Buffer, decodedLength: number) => {
        const { headers, options } = chunked('STREAMING-AWS4-HMAC-SHA256-PAYLOAD', decodedLength);
        const nowMs = Date.now();
        const request = signed({ method: 'PUT', target: '/bodies/signed', headers }, { key, host, nowMs, ...options });
        const amzDate = request.headers?.['x-amz-date'] ?? '';
        const scope = credentialScope(amzDate.slice(0, 8), 'us-east-1');
        const signingKey = deriveSigningKey(key.secretAccessKey, amzDate.slice(0, 8), 'us-east-1');
        let previous = request.signature;
        const frames = [Buffer.alloc(9_000, 'a'), Buffer.alloc(100, 'b'), Buffer.alloc(0)].map((chunk, index) => {
          previous = signingKey.sign(chunkStringToSign({ amzDate, scope }, previous, hash('sha256', chunk)));
          const line = `${chunk.length.toString(16)};chunk-signature=${previous}\r\n`;
          return Buffer.concat([Buffer.from(line), tamper(chunk, index), Buffer.from('\r\n')]);
        });
        return { ...request, body: Buffer.concat(frames) };
      };
      const tampered = build((chunk, index) => (index === 1 ? Buffer.alloc(100, 'c') : chunk), 9_100);
      expect(refused(await sendRaw(store.endpoint, tampered))).toEqual({ status: 403, code: 'SignatureDoesNotMatch' });
      expect(await stored('signed')).toBeNull();
      const short = build((chunk) => chunk, 9_101);
      expect(refused(await sendRaw(store.endpoint, short))).toEqual({ status: 400, code: 'IncompleteBody' });
      const long = build((chunk) => chunk, 9_099);
      expect(refused(await sendRaw(store.endpoint, long))).toEqual({ status: 400, code: 'IncompleteBody' });
      expect(
        (
          await sendRaw(
            store.endpoint,
            build((chunk) => chunk, 9_100),
          )
        ).status,
      ).toBe(200);
      expect((await stored('signed'))?.length).toBe(9_100);
    });

    it('requires the decoded length', async () => {
      const { headers, options } = chunked('STREAMING-UNSIGNED-PAYLOAD-TRAILER', 0);
      const { 'x-amz-decoded-content-length': _, ...without } = headers;
      expect(refused(await put('x', '0\r\n\r\n', without, options))).toEqual({
        status: 411,
        code: 'MissingContentLength',
      });
      expect(refused(await put('x', 'a', { 'transfer-encoding': 'chunked' }))).toEqual({
        status: 411,
        code: 'MissingContentLength',
      });
    });
  });

  it.each([1_000, 3_000_000])(
    'stores nothing of %i declared bytes when the connection closes before the last one',
    async (size) => {
      const name = `torn-${size}`;
      const request = signed(
        { method: 'PUT', target: `/bodies/${name}`, headers: { 'content-length': String(size) } },
        { key, host, payloadHash: 'UNSIGNED-PAYLOAD' },
      );
      const socket = await openSocket(Buffer.concat([renderHead(request), randomBytes(size - 1)]));
      await waitFor(() => Promise.resolve(socket.bytesWritten >= size));
      socket.destroy();
      await waitFor(async () => (await readdir(join(folder.path, 'objects', 'unsealed'))).length === 0);
      expect(await stored(name)).toBeNull();
      await store.module.maintain();
      expect(await store.module.fsck()).toMatchObject({ clean: true });
    },
  );

  it('sends 100 Continue only for a request it accepts', async () => {
    const expecting = (target: string, secret: TestKey) =>
      renderHead(
        signed(
          { method: 'PUT', target, headers: { 'content-length': '5', expect: '100-continue' } },
          { key: secret, host, payloadHash: 'UNSIGNED-PAYLOAD' },
        ),
      );
    const wanted = await openSocket(expecting('/bodies/expected', key));
    expect(await nextText(wanted)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    wanted.write('hello');
    expect(await nextText(wanted)).toMatch(/^HTTP\/1.1 200 OK/);
    wanted.destroy();
    const unwanted = await openSocket(expecting('/bodies/expected', { ...key, secretAccessKey: 'tsec_wrong' }));
    expect(await untilClosed(unwanted)).toMatch(/^HTTP\/1.1 403 [^]*SignatureDoesNotMatch/);
  });

  it('lets a client that is still sending read the error response', async () => {
    const request = signed(
      { method: 'PUT', target: '/no-such-bucket/x', headers: { 'content-length': '3000000' } },
      { key, host, payloadHash: 'UNSIGNED-PAYLOAD' },
    );
    const socket = await openSocket(Buffer.concat([renderHead(request), randomBytes(3_000_000)]));
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1.1 404 [^]*<Code>NoSuchBucket<\/Code>/);
  });

  it('keeps a connection open after rejecting a fully received body', async () => {
    const request = signed(
      {
        method: 'PUT',
        target: '/bodies/kept-alive',
        headers: { 'content-length': '5', 'content-md5': createHash('md5').update('other').digest('base64') },
      },
      { key, host, payloadHash: 'UNSIGNED-PAYLOAD' },
    );
    const socket = await openSocket(Buffer.concat([renderHead(request), Buffer.from('hello')]));
    expect(await nextText(socket)).toMatch(/^HTTP\/1.1 400 [^]*BadDigest/);
    socket.write(renderHead(signed({ target: '/bodies/absent' }, { key, host })));
    expect(await nextText(socket)).toMatch(/^HTTP\/1.1 404 [^]*NoSuchKey/);
    socket.destroy();
  });

  function openSocket(first: Buffer): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect(store.port, '127.0.0.1', () => {
        socket.write(first);
        resolve(socket);
      });
      socket.once('error', reject);
    });
  }
});

function renderHead(request: RawRequest): Buffer {
  const lines = Object.entries(request.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${request.method ?? 'GET'} ${request.target} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

function nextText(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    socket.once('error', reject);
  });
}

function untilClosed(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(text));
  });
}
