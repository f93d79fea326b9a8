import { once } from 'node:events';
import { constants } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { waitFor } from '@svc/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { answerOf, dial, endAll, get, getOther, held, resetOf, start } from './testing/http2-peers.ts';

afterEach(endAll);

describe('slow clients', () => {
  it('that say nothing after the handshake are cut', async () => {
    const { listener, port } = await start({ limits: { headersTimeoutMs: 200 } });
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] });
    socket.on('error', () => undefined).resume();
    await once(socket, 'close');
    await waitFor(() => listener.connectionCount() === 0);
  });

  it('that keep a connection without using it are told and closed, whatever they ping', async () => {
    const { listener, port } = await start({ limits: { keepAliveTimeoutMs: 200 } });
    const client = await dial(port);
    expect((await get(client)).body).toBe('ok');
    const pinging = setInterval(() => client.destroyed || client.ping(() => undefined), 20);
    const [code] = (await once(client, 'goaway')) as [number];
    clearInterval(pinging);
    expect(code).toBe(constants.NGHTTP2_NO_ERROR);
    await waitFor(() => listener.connectionCount() === 0);
  });

  it('do not include those whose body the handler has not started to read', async () => {
    const requests = held();
    const limits = { minBodyBytesPerSecond: 100, bodyRateWindowMs: 50 };
    const { port } = await start({ handler: requests.handler, limits });
    const stream = (await dial(port)).request({ ':method': 'PUT', 'content-length': '1000' });
    stream.on('error', () => undefined).end(Buffer.alloc(1000));
    const { request, response } = await requests.next();
    await delay(300);
    expect(await buffer(request)).toHaveLength(1000);
    response.end('read');
    expect((await answerOf(stream)).body).toBe('read');
  });

  it('that stop in the middle of a body lose that stream only', async () => {
    const requests = held();
    const { port } = await start({ handler: requests.handler, limits: { idleTimeoutMs: 200 } });
    const client = await dial(port);
    const stream = client.request({ ':method': 'PUT' });
    stream.write('half');
    const reset = resetOf(stream);
    const { request } = await requests.next();
    await expect(buffer(request)).rejects.toThrow(/aborted|Premature close/);
    expect(await reset).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    expect((await getOther(client, requests)).body).toBe('other');
  });

  it('may be silent on a stream whose handler allows it', async () => {
    const requests = held();
    const { port } = await start({ handler: requests.handler, limits: { idleTimeoutMs: 100 } });
    const client = await dial(port);
    const stream = client.request({});
    const { request, response } = await requests.next();
    request.socket.setTimeout(0);
    const other = client.request({});
    await requests.next();
    await resetOf(other); // its time is over
    response.end('late');
    expect((await answerOf(stream)).body).toBe('late');
  });

  it('that drip a body are cut, however regularly a byte comes', async () => {
    const requests = held();
    const limits = { minBodyBytesPerSecond: 1_000, bodyRateWindowMs: 100 };
    const { port } = await start({ handler: requests.handler, limits });
    const stream = (await dial(port)).request({ ':method': 'PUT' });
    const dripping = setInterval(() => stream.writable && stream.write('.'), 5);
    const reset = resetOf(stream);
    const { request } = await requests.next();
    await expect(buffer(request)).rejects.toThrow(/aborted|Premature close/);
    clearInterval(dripping);
    await reset;
  });
});

describe('closing', () => {
  it('announces itself first: clients are told, what is under way goes on, and new connections are accepted', async () => {
    const requests = held();
    const { listener, port } = await start({ handler: requests.handler });
    const client = await dial(port);
    const stream = client.request({});
    const { response } = await requests.next();
    const told = once(client, 'goaway');
    listener.announceClose();
    await told;
    response.end('whole');
    expect((await answerOf(stream)).body).toBe('whole');
    await waitFor(() => listener.connectionCount() === 0);
    const late = await dial(port);
    const lateTold = once(late, 'goaway');
    expect((await getOther(late, requests)).body).toBe('other');
    await lateTold;
  });

  it('closes idle connections, and waits for streams', async () => {
    const requests = held();
    const { listener, port } = await start({ handler: requests.handler });
    const [idle, busy] = [await dial(port), await dial(port)];
    const stream = busy.request({});
    const { response } = await requests.next();
    const idleClosed = once(idle, 'close');
    const closed = listener.close(60_000);
    await idleClosed;
    await waitFor(() => listener.connectionCount() === 1);
    response.end('done');
    expect((await answerOf(stream)).body).toBe('done');
    await closed;
    expect(listener.connectionCount()).toBe(0);
  });

  it('cuts at the deadline what does not end', async () => {
    const requests = held();
    const { listener, port } = await start({ handler: requests.handler });
    const stream = (await dial(port)).request({});
    await requests.next();
    const reset = resetOf(stream);
    await listener.close(50);
    await reset;
    expect(listener.connectionCount()).toBe(0);
  });
});

describe('requests in progress', () => {
  const limits = { maxConnections: 12 };

  it('are shared over all connections: an address gets a third, and the next one finds room', async () => {
    const requests = held();
    const { port } = await start({ handler: requests.handler, limits });
    const clients = [await dial(port), await dial(port)];
    for (const client of [...clients, ...clients]) client.request({}).on('error', () => undefined);
    const exchanges = [];
    for (let count = 0; count < 4; count += 1) exchanges.push(await requests.next());
    for (const client of clients) expect(await resetOf(client.request({}))).toBe(constants.NGHTTP2_REFUSED_STREAM);
    const other = await dial(port, { localAddress: '127.0.1.1' });
    expect((await getOther(other, requests)).body).toBe('other');
    const ended = once(exchanges[0]?.response ?? other, 'close');
    exchanges[0]?.response.end();
    await ended;
    expect((await getOther(await dial(port), requests)).body).toBe('other');
  });

  it('of a trusted proxy have no share', async () => {
    const requests = held();
    const { port } = await start({ handler: requests.handler, limits, shares: { trustedProxies: ['127.0.0.1'] } });
    const client = await dial(port);
    for (let count = 0; count < 9; count += 1) {
      client.request({}).on('error', () => undefined);
      await requests.next();
    }
    expect((await getOther(client, requests)).body).toBe('other');
  });
});

it('resets streams beyond the limit of unread bytes per connection', async () => {
  const requests = held();
  const { port } = await start({ handler: requests.handler });
  const client = await dial(port);
  const streams = Array.from({ length: 100 }, () => client.request({ ':method': 'POST' }));
  for (const stream of streams) stream.on('error', () => undefined).write(Buffer.alloc(250_000));
  const reset = await waitFor(() => {
    const closed = streams.filter((stream) => stream.closed);
    return closed.length > 20 ? closed : undefined;
  });
  expect(new Set(reset.map(({ rstCode }) => rstCode))).toEqual(new Set([constants.NGHTTP2_ENHANCE_YOUR_CALM]));
  const { request, response } = await requests.next();
  response.end('read');
  expect(request.destroyed).toBe(false);
});
