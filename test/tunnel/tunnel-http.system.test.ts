import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { freePort, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startEcho, type EchoService } from './echo-service.ts';
import { startTunnels, tunnelsOf, type TunnelFixture } from './tunnel-fixture.ts';

interface Echoed {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

let echo: EchoService;
let fixture: TunnelFixture;

beforeAll(async () => {
  echo = await startEcho();
  const nobody = `127.0.0.1:${await freePort()}`;
  fixture = await startTunnels({ forwards: { echo: echo.address, nobody } });
});
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]();
  await echo?.[Symbol.asyncDispose]();
});

const echoed = (answer: { text: string }): Echoed => JSON.parse(answer.text) as Echoed; // what startEcho answers

/** Sends a raw request, since `node:http` would refuse some; returns the whole response. */
function sendText(requestLine: string, headers: readonly string[], body = ''): Promise<string> {
  const { hostname, port } = new URL(fixture.platform.ready.url);
  const socket = connect(Number(port), hostname);
  const { authorization } = fixture.authorization;
  const lines = [requestLine, ...headers, `Authorization: ${authorization}`, 'Connection: close'];
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  return text(socket);
}

describe('a forwarded web service', () => {
  it('receives the method, path, query and body, and the caller its response', async () => {
    const answer = await fixture.send({ method: 'POST', path: '/echo/a%2Fb/c?d=e&f=%20', body: 'hello' });
    expect(answer.status).toBe(200);
    expect(echoed(answer)).toMatchObject({ method: 'POST', path: '/a%2Fb/c?d=e&f=%20', body: 'hello' });
  });

  it('responds identically below the platform’s path, by id and by name', async () => {
    for (const cluster of [fixture.cluster.id, fixture.cluster.name]) {
      const path = `/v1/clusters/${cluster}/tunnel/echo/x?y=1`;
      const answer = await fixture.send({ path, host: 'localhost' });
      expect(echoed(answer).path).toBe('/x?y=1');
      expect(answer.headers['content-security-policy']).toBe('sandbox');
    }
  });

  it('never receives the token, our cookies, or headers that only we may set', async () => {
    const answer = await fixture.send({
      path: '/echo/headers',
      headers: {
        cookie: 'svc_session=secret; theme=dark; __Host-svc_session=secret; svc_tunnel=x',
        'impersonate-user': 'root',
        'x-forwarded-for': '6.6.6.6',
        'x-remote-user': 'root',
        connection: 'close, x-secret',
        'x-secret': 'of the connection',
        'x-kept': 'yes',
      },
    });
    const { headers } = echoed(answer);
    expect(headers).toMatchObject({
      cookie: 'theme=dark',
      'x-kept': 'yes',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-prefix': '/echo',
    });
    expect(headers['x-forwarded-host']).toContain(fixture.host);
    for (const name of ['authorization', 'impersonate-user', 'x-remote-user', 'x-secret']) {
      expect(headers[name]).toBeUndefined();
    }
  });

  it('streams in both directions at once', async () => {
    const { port } = new URL(fixture.platform.ready.url);
    const outgoing = httpRequest({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/echo/stream',
      headers: { host: fixture.host, ...fixture.authorization, 'transfer-encoding': 'chunked' },
    });
    outgoing.write('first');
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    const [first] = (await once(response, 'data')) as [Buffer];
    expect(first.toString()).toBe('first');
    const next = once(response, 'data');
    outgoing.write('second');
    expect(String((await next)[0])).toBe('second');
    outgoing.end();
    await once(response.resume(), 'end');
  });

  it('receives and sends trailers', async () => {
    const answer = await fixture.send({
      method: 'POST',
      path: '/echo/trailers',
      headers: { 'transfer-encoding': 'chunked', trailer: 'x-sent', te: 'trailers' },
      body: ['one', 'two'],
      trailers: { 'x-sent': 'mine' },
    });
    expect(answer.text).toBe('onetwo');
    expect(answer.trailers).toMatchObject({ 'x-sum': '6', 'x-got': 'mine' });
  });

  it('receives no trailer that is forbidden as a header', async () => {
    const forged = { authorization: 'Bearer x', cookie: 'svc_session=x', 'impersonate-user': 'root', host: 'other' };
    await fixture.send({
      method: 'POST',
      path: '/echo/trailers',
      headers: { 'transfer-encoding': 'chunked' },
      body: 'one',
      trailers: { ...forged, 'x-forwarded-for': '6.6.6.6', 'x-sent': 'mine' },
    });
    expect(echo.seen.at(-1)?.trailers).toEqual({ 'x-sent': 'mine' });
  });

  it('receives no body when there is none, whatever the method', async () => {
    expect(await sendText('MKCOL /echo/folder HTTP/1.1', [`Host: ${fixture.host}`])).toMatch(/^HTTP\/1\.1 200 /);
    const { method, headers } = echo.seen.at(-1) ?? {};
    expect([method, headers?.['transfer-encoding'], headers?.['content-length']]).toEqual(['MKCOL', undefined, '0']);
  });

  it('never receives a request that two servers could parse differently', async () => {
    const before = echo.seen.length;
    const host = `Host: ${fixture.host}`;
    for (const [name, lines, body] of [
      ['Host', [host, 'Host: elsewhere'], ''],
      ['Transfer-Encoding', [host, 'Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'],
    ] as const) {
      const answer = await sendText('POST /echo/x HTTP/1.1', lines, body);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
        error: { code: 'INVALID_REQUEST', details: { field: name } },
      });
    }
    expect(echo.seen).toHaveLength(before);
  });

  it('is reachable by its fully qualified name with a trailing dot', async () => {
    expect((await fixture.send({ path: '/echo/x', host: `${fixture.host}.` })).status).toBe(200);
  });

  it('is contacted before a client that expects 100-continue sends its body', async () => {
    const answer = await fixture.send({
      method: 'PUT',
      path: '/echo/upload',
      headers: { expect: '100-continue', 'content-length': '4' },
      body: 'body',
    });
    expect(answer).toMatchObject({ status: 200, continued: true });
    expect(echoed(answer).body).toBe('body');
  });

  it('answers HEAD with headers only', async () => {
    const answer = await fixture.send({ method: 'HEAD', path: '/echo/x' });
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(answer.headers['content-type']).toBe('application/json');
  });

  it('receives and sends 20 MiB unchanged', async () => {
    const body = Buffer.alloc(20 * 1024 * 1024, 'tunnel ');
    const answer = await fixture.send({ method: 'POST', path: '/echo/stream', body });
    expect(answer.text.length).toBe(body.length);
    expect(answer.text === body.toString()).toBe(true);
  });

  it('has its redirects rewritten below its name, and its cookies limited to its own host', async () => {
    expect((await fixture.send({ path: '/echo/moved' })).headers.location).toBe('/echo/elsewhere?x=1');
    const cookies = (await fixture.send({ path: '/echo/cookies' })).headers['set-cookie'];
    expect(cookies).toEqual(['a=1; Path=/echo', 'b=2; Path=/echo']);
    const onPath = await fixture.send({
      path: `/v1/clusters/${fixture.cluster.id}/tunnel/echo/cookies`,
      host: 'localhost',
    });
    expect(onPath.headers['set-cookie']).toBeUndefined();
  });

  it('reuses a connection for repeatable requests', async () => {
    await fixture.send({ path: '/echo/a' });
    const before = echo.connectionCount();
    await fixture.send({ path: '/echo/b' });
    expect(echo.connectionCount()).toBe(before);
  });

  it('aborts the caller’s response when it aborts a body', async () => {
    await expect(fixture.send({ path: '/echo/cut' })).rejects.toThrow(/aborted|hang up|ECONNRESET/);
  });

  it('loses its connection when the caller disconnects', async () => {
    const { port } = new URL(fixture.platform.ready.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `GET /echo/silent HTTP/1.1\r\nHost: ${fixture.host}\r\nAuthorization: ${fixture.authorization.authorization}\r\n\r\n`,
    );
    const request = await waitFor(() => echo.seen.find(({ url }) => url === '/silent'));
    socket.destroy();
    await waitFor(() => request.socket.destroyed);
  });
});

describe('an upgrade', () => {
  it('to a WebSocket passes its subprotocol and large messages', async () => {
    const { port } = new URL(fixture.platform.ready.url);
    const socket = new WebSocket(`ws://127.0.0.1:${port}/echo/ws`, {
      headers: { ...fixture.authorization, host: `${fixture.host}:${port}` },
    });
    await once(socket, 'open');
    const message = Buffer.alloc(3 * 1024 * 1024, 'x');
    socket.send(message);
    const [data] = (await once(socket, 'message')) as [Buffer];
    expect(data.equals(message)).toBe(true);
    socket.close();
    await once(socket, 'close');
  });

  it('to any other protocol passes raw bytes, including early ones', async () => {
    const { port } = new URL(fixture.platform.ready.url);
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
    socket.write(
      `GET /echo/raw HTTP/1.1\r\nHost: ${fixture.host}\r\nAuthorization: ${fixture.authorization.authorization}\r\n` +
        'Connection: Upgrade\r\nUpgrade: echo/1\r\n\r\nearly ',
    );
    socket.write('and late');
    await waitFor(() => echo.seen.some(({ url }) => url === '/raw'));
    socket.end();
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 101 /);
    expect(answer).toMatch(/\r\n\r\nearly and late$/);
  });

  it('passes everything from a client that half-closes before the service responds', async () => {
    const { port } = new URL(fixture.platform.ready.url);
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
    const { authorization } = fixture.authorization;
    const head = `GET /echo/raw HTTP/1.1\r\nHost: ${fixture.host}\r\nAuthorization: ${authorization}\r\n`;
    socket.end(`${head}Connection: Upgrade\r\nUpgrade: echo/1\r\n\r\nall of it`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 101 [^]*\r\n\r\nall of it$/);
  });

  it('passes a refusal by the service', async () => {
    const answer = await fixture.send({ path: '/echo/refuse', headers: { connection: 'Upgrade', upgrade: 'x' } });
    expect(answer).toMatchObject({ status: 409, text: 'never' });
  });
});

describe('a tunnel request', () => {
  const code = (answer: { text: string }): unknown =>
    (JSON.parse(answer.text) as { error: { code: string; details: unknown } }).error;

  it('without a token or with a wrong one gets 401, in both forms and for upgrades', async () => {
    const path = `/v1/clusters/${fixture.cluster.id}/tunnel/echo/x`;
    for (const headers of [{}, { authorization: 'Bearer nonsense' }, { cookie: 'svc_tunnel=nonsense' }]) {
      for (const upgrade of [{}, { connection: 'Upgrade', upgrade: 'websocket' }]) {
        const sent = { anonymous: true, headers: { ...headers, ...upgrade } };
        expect((await fixture.send({ ...sent, path: '/echo/x' })).status).toBe(401);
        expect((await fixture.send({ ...sent, path, host: 'localhost' })).status).toBe(401);
      }
    }
  });

  it('to an unknown cluster, an unknown forward or an invalid name gets 404', async () => {
    expect((await fixture.send({ path: '/echo/x', host: 'tunnel-cls-000000000000.localhost' })).status).toBe(404);
    for (const path of ['/other/x', '/', '/..%2fetc/x', '/127.0.0.1:22/x']) {
      const answer = await fixture.send({ path });
      expect(answer.status).toBe(404);
      expect(code(answer)).toMatchObject({ code: 'FORWARD_NOT_FOUND' });
    }
  });

  it('to an unreachable service gets 502 with the dial error', async () => {
    const answer = await fixture.send({ path: '/nobody/x' });
    expect(answer.status).toBe(502);
    expect(code(answer)).toMatchObject({
      code: 'TUNNEL_BACKEND_UNREACHABLE',
      details: { reason: expect.stringContaining('ECONNREFUSED') as string },
    });
    const ready = (await (await fixture.agent.get('/readyz')).json()) as { checks: { tunnel: string } };
    expect(ready.checks.tunnel).toBe('degraded');
    const info = (await (await fixture.agent.get('/info')).json()) as { limitations: { feature: string }[] };
    expect(info.limitations.map(({ feature }) => feature)).toContain('forward nobody');
  });

  it('while the agent is offline gets 503, until it is back', async () => {
    await fixture.agent.stop();
    await waitFor(async () => (await fixture.send({ path: '/echo/x' })).status === 503);
    const answer = await fixture.send({ path: '/echo/x' });
    expect(code(answer)).toMatchObject({ code: 'AGENT_OFFLINE', details: { reason: 'its agent has no tunnel' } });
    expect(answer.headers['retry-after']).toBe('1');
    await fixture.restartAgent();
    expect((await fixture.send({ path: '/echo/x' })).status).toBe(200);
    expect(await tunnelsOf(fixture.agent)).toBe(3);
    fixture.agent.environment['TUNNEL_KUBERNETES_ENABLED'] = 'false';
    fixture.agent.config.reload('a test');
    expect(await tunnelsOf(fixture.agent)).toBe(2);
    expect(await (await fixture.agent.get('/metrics')).text()).toMatch(/^svc_tunnel_active 2$/m);
    fixture.agent.environment['TUNNEL_KUBERNETES_ENABLED'] = 'true';
    fixture.agent.config.reload('a test');
  });
});

describe('a tunnel link', () => {
  it('admits a browser to one service, by a cookie hidden from scripts and other services', async () => {
    const { url } = await fixture.api.post<{ url: string }>(`/v1/clusters/${fixture.cluster.id}/tunnel-links`, {
      service: 'echo',
    });
    const { hostname: host, pathname, search } = new URL(url);
    expect(host).toBe(`tunnel-${fixture.cluster.id}-echo.localhost`);
    const first = await fixture.send({ host, path: `${pathname}deep?x=1&${search.slice(1)}`, anonymous: true });
    expect(first).toMatchObject({ status: 303, headers: { location: '/deep?x=1' } });
    const cookie = first.headers['set-cookie']?.[0] ?? '';
    expect(cookie).toMatch(/; Path=\/; .*HttpOnly; SameSite=Lax/);
    const shown = { cookie: cookie.split(';', 1)[0] ?? '', authorization: 'Basic of-the-service' };
    const answer = await fixture.send({ host, path: '/x', anonymous: true, headers: shown });
    expect(echoed(answer).headers).toMatchObject({ authorization: 'Basic of-the-service' });
    expect(echoed(answer).headers['cookie']).toBeUndefined();
    expect(echoed(answer).headers['x-forwarded-prefix']).toBeUndefined();
    const others = [`tunnel-${fixture.cluster.id}-nobody.localhost`, fixture.host];
    for (const other of others) {
      const refused = await fixture.send({ host: other, path: '/echo/x', anonymous: true, headers: shown });
      expect(refused.status).toBe(401);
    }
    const foreign = { ...shown, origin: 'http://evil.localhost' };
    const attack = await fixture.send({ host, method: 'POST', path: '/x', anonymous: true, headers: foreign });
    expect(attack.status).toBe(403);
  });

  it('is never created for the Kubernetes API', async () => {
    await expect(
      fixture.api.post(`/v1/clusters/${fixture.cluster.id}/tunnel-links`, { service: 'kubernetes' }),
    ).rejects.toThrow('400');
  });
});
