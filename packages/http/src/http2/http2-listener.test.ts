import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { constants, type ClientHttp2Stream } from 'node:http2';
import { Agent, request as request1 } from 'node:https';
import { buffer, text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { waitFor } from '@svc/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { answerOf, dial, endAll, get, getOther, held, resetOf, start } from './testing/http2-peers.ts';

afterEach(endAll);

describe('the protocol', () => {
  it('is what the client offers: HTTP/2, or HTTP/1.1 as before', async () => {
    const { port } = await start({ handler: (request, response) => void response.end(request.httpVersion) });
    expect((await get(await dial(port))).body).toBe('2.0');
    const agent = new Agent({ rejectUnauthorized: false });
    const [answer] = (await once(request1({ port, host: '127.0.0.1', agent }).end(), 'response')) as [IncomingMessage];
    expect(await text(answer)).toBe('1.1');
    agent.destroy();
  });

  it('is HTTP/1.1 unless HTTP/2 was asked for', async () => {
    const { port } = await start({ http2: false });
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2', 'http/1.1'] };
    const socket = connectTls(options);
    await once(socket, 'secureConnect');
    expect(socket.alpnProtocol).toBe('http/1.1');
    socket.destroy();
  });

  it('announces no WebSockets over streams, so that clients open them with HTTP/1.1', async () => {
    const { port } = await start();
    const client = await dial(port);
    expect(client.remoteSettings).toMatchObject({ enableConnectProtocol: false, maxConcurrentStreams: 250 });
    const refused = await answerOf(client.request({ ':method': 'CONNECT', ':authority': 'localhost' }));
    expect(refused.headers[':status']).toBe(400);
  });
});

describe('a request', () => {
  it('has the head of HTTP/1', async () => {
    let seen: unknown;
    const { port } = await start({
      handler: ({ method, url, headers, rawHeaders, socket }, response) => {
        const { remoteAddress } = socket;
        seen = {
          method,
          url,
          headers,
          rawHeaders,
          remoteAddress,
          encrypted: 'encrypted' in socket && socket.encrypted,
        };
        response.end();
      },
    });
    const client = await dial(port);
    await get(client, '/a?b=c', {
      ':authority': 'sbx.test:1',
      'x-one': ['1', '2'],
      cookie: ['a=1', 'b=2'],
      te: 'trailers',
    });
    expect(seen).toEqual({
      method: 'GET',
      url: '/a?b=c',
      headers: { host: 'sbx.test:1', 'x-one': '1, 2', cookie: 'a=1; b=2', te: 'trailers' },
      rawHeaders: ['host', 'sbx.test:1', 'x-one', '1', 'x-one', '2', 'cookie', 'a=1; b=2', 'te', 'trailers'],
      remoteAddress: '127.0.0.1',
      encrypted: true,
    });
  });

  it.each([
    { ':scheme': 'ftp' },
    { ':scheme': 'ftp', ':path': 'a' },
    { ':scheme': 'x', ':path': 'http://b.test/' },
    { ':path': '*', ':scheme': 'x' },
  ])('with the target %j is refused', async (target) => {
    const requests = held();
    const { port } = await start({ handler: requests.handler });
    const client = await dial(port);
    expect((await answerOf(client.request(target))).headers[':status']).toBe(400);
    const whole = client.request({ ':method': 'OPTIONS', ':path': '*' });
    const { request, response } = await requests.next();
    response.end();
    expect(request.url).toBe('*');
    expect((await answerOf(whole)).headers[':status']).toBe(200);
  });

  it('that names two hosts is refused', async () => {
    const { port } = await start();
    const client = await dial(port);
    const { headers, body } = await get(client, '/', { ':authority': 'a.test', host: 'b.test' });
    expect(headers).toMatchObject({ ':status': 400, 'x-request-id': expect.stringMatching(/^req_/) as string });
    expect(body).toContain('it differs from :authority');
    await expect(get(client, '/', { ':authority': '' })).rejects.toThrow('PROTOCOL_ERROR');
    expect((await get(client)).body).toBe('ok');
  });

  it('with a method that HTTP/1 would not parse is refused', async () => {
    const { port } = await start();
    expect((await answerOf((await dial(port)).request({ ':method': 'FOO' }))).headers[':status']).toBe(400);
  });

  it('streams its body, with its trailers, and counts as chunked without a length', async () => {
    const seen: unknown[] = [];
    const { port } = await start({
      handler: (request, response) =>
        void buffer(request).then((body) => {
          seen.push(body.length, request.complete, request.headers['transfer-encoding'], request.trailers);
          response.end();
        }),
    });
    const client = await dial(port);
    const stream = client.request({ ':method': 'POST' }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'x-sum': '1' }));
    stream.end(Buffer.alloc(3_000_000));
    await answerOf(stream);
    expect(seen).toEqual([3_000_000, true, 'chunked', { 'x-sum': '1' }]);
    const measured = client.request({ ':method': 'POST', 'content-length': '2' });
    measured.end('ab');
    await answerOf(measured);
    expect(seen.slice(4)).toEqual([2, true, undefined, {}]);
  });

  it.each<[string, object, (stream: ClientHttp2Stream) => void]>([
    ['with a length', { 'content-length': '1000' }, (stream) => stream.close(constants.NGHTTP2_CANCEL)],
    ['without a length', {}, (stream) => stream.destroy(new Error('changed its mind'))],
    ['on a lost connection', {}, (stream) => stream.session?.destroy()],
  ])('%s whose client leaves fails, and never looks complete', async (_what, headers, leave) => {
    const requests = held();
    const { port } = await start({ handler: requests.handler });
    const stream = (await dial(port)).request({ ':method': 'PUT', ...headers });
    stream.on('error', () => undefined);
    stream.write('half');
    const { request, response } = await requests.next();
    const closed = once(response, 'close');
    const body = buffer(request);
    await waitFor(() => request.socket.bytesRead === 4);
    leave(stream);
    await expect(body).rejects.toThrow(/aborted|Premature close/);
    await closed;
    expect([request.complete, request.destroyed, response.destroyed]).toEqual([false, true, true]);
  });

  it('that expects to be asked for its body is asked when the handler reads', async () => {
    const requests = held();
    const { port } = await start({ handler: requests.handler });
    const stream = (await dial(port)).request({ ':method': 'PUT', expect: '100-continue' });
    const asked = once(stream, 'continue').then(() => stream.end('body'));
    const { request, response } = await requests.next();
    expect(await text(request)).toBe('body');
    await asked;
    response.end('done');
    expect((await answerOf(stream)).body).toBe('done');
  });

  it('is paused with its reader: a client may send no more than a window', async () => {
    const requests = held();
    const { port } = await start({ handler: requests.handler });
    const client = await dial(port);
    const stream = client.request({ ':method': 'PUT' });
    stream.end(Buffer.alloc(4_000_000));
    const { request, response } = await requests.next();
    expect((await getOther(client, requests)).body).toBe('other');
    expect(request.socket.bytesRead).toBe(0);
    expect((await buffer(request)).length).toBe(4_000_000);
    response.end('done');
    expect((await answerOf(stream)).body).toBe('done');
  });
});

describe('a response', () => {
  it('drops what belongs to HTTP/1 connections, and keeps the rest', async () => {
    const { port } = await start({
      handler: (_request, response) => {
        response.setHeader('X-Set', 'before');
        response.writeHead(201, 'Made', [
          'Connection',
          'close',
          'Transfer-Encoding',
          'chunked',
          'ETag',
          '1',
          'ETag',
          '2',
        ]);
        response.end('made');
      },
    });
    const { headers, body } = await get(await dial(port));
    expect(headers).toMatchObject({ ':status': 201, 'x-set': 'before', etag: '1' });
    expect(Object.keys(headers)).not.toContain('connection');
    expect(body).toBe('made');
  });

  it('to HEAD, and with 204 or 304, has no body', async () => {
    const { port } = await start({
      handler: ({ url }, response) => void response.writeHead(Number(url?.slice(1)), { 'content-length': 2 }).end('ok'),
    });
    const client = await dial(port);
    const head = await answerOf(client.request({ ':method': 'HEAD', ':path': '/200' }));
    expect([head.headers['content-length'], head.body]).toEqual(['2', '']);
    expect((await get(client, '/204')).body).toBe('');
    expect((await get(client, '/304')).body).toBe('');
    expect((await get(client, '/799')).headers[':status']).toBe(500);
  });

  it('ends with trailers for clients that read them', async () => {
    const { port } = await start({
      handler: (_request, response) => {
        response.write('body');
        response.addTrailers({ 'X-Sum': '4' });
        response.end();
      },
    });
    const client = await dial(port);
    expect(await get(client, '/', { te: 'trailers' })).toMatchObject({ body: 'body', trailers: { 'x-sum': '4' } });
    expect(await get(client)).toMatchObject({ body: 'body', trailers: {} });
  });

  it('omits trailers that HTTP/2 forbids', async () => {
    const { port } = await start({
      handler: (_request, response) => {
        response.writeHead(200, { te: 'gzip', trailer: 'te' });
        response.write('body');
        response.addTrailers({ te: 'gzip', ':status': '200', 'a b': '1', 'x-sum': '4' });
        response.end();
      },
    });
    const { headers, trailers } = await get(await dial(port));
    expect(headers).not.toHaveProperty('te');
    expect(Object.entries(trailers)).toEqual([['x-sum', '4']]);
  });

  it.each(['flushHeaders', 'write', 'end'] as const)(
    'whose head cannot be sent by %s resets its stream; the others live on',
    async (send) => {
      const requests = held();
      const { port } = await start({ handler: requests.handler });
      const client = await dial(port);
      const reset = resetOf(client.request({}));
      const { response } = await requests.next();
      response.statusCode = 101;
      expect(() => void response[send]('body')).not.toThrow();
      expect(await reset).toBe(constants.NGHTTP2_INTERNAL_ERROR);
      expect((await getOther(client, requests)).body).toBe('other');
    },
  );

  it('waits for its reader', async () => {
    const requests = held();
    const { port } = await start({ handler: requests.handler });
    const client = await dial(port);
    const stream = client.request({});
    const { response } = await requests.next();
    let writtenBytes = 0;
    const chunk = Buffer.alloc(64 * 1024);
    while (response.write(chunk)) {
      writtenBytes += chunk.length;
      await new Promise(setImmediate);
    }
    expect((await getOther(client, requests)).body).toBe('other');
    expect(response.writableNeedDrain).toBe(true);
    response.end();
    const read = await buffer(stream);
    expect(read.length).toBe(writtenBytes + chunk.length);
  });

  it.each(['at once', 'in the middle'])('that is destroyed %s resets its stream; the others live on', async (when) => {
    const requests = held();
    const { port } = await start({ handler: requests.handler });
    const client = await dial(port);
    const [first, second] = [client.request({ ':path': '/1' }), client.request({ ':path': '/2' })];
    const [cut, kept] = [await requests.next(), await requests.next()];
    if (when === 'in the middle') {
      cut.response.writeHead(200, { 'content-type': 'text/plain' });
      cut.response.write('part');
      await once(first, 'response');
    }
    const reset = resetOf(first);
    cut.response.destroy();
    expect(await reset).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    kept.response.end('whole');
    expect((await answerOf(second)).body).toBe('whole');
  });

  it('that does not wait for a body is delivered, and the client may stop sending', async () => {
    const { port } = await start({ handler: (_request, response) => void response.writeHead(413).end('too large') });
    const client = await dial(port);
    const stream = client.request({ ':method': 'PUT' });
    stream.on('error', () => undefined);
    const closed = once(stream, 'close');
    stream.write(Buffer.alloc(5_000_000));
    expect(await answerOf(stream)).toMatchObject({ headers: { ':status': 413 }, body: 'too large' });
    await closed;
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
    expect((await get(client)).headers[':status']).toBe(413);
  });

  it('that the client no longer wants is closed', async () => {
    const requests = held();
    const { port } = await start({ handler: requests.handler });
    const client = await dial(port);
    const stream = client.request({});
    stream.on('error', () => undefined);
    const { response } = await requests.next();
    response.write('begun');
    const closed = once(response, 'close');
    stream.close(constants.NGHTTP2_CANCEL);
    await closed;
    expect([response.destroyed, response.writableFinished]).toEqual([true, false]);
    expect((await getOther(client, requests)).body).toBe('other');
  });
});
