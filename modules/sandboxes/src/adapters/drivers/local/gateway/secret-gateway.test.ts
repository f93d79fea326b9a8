import { once } from 'node:events';
import {
  createServer as createPlain,
  request as requestPlain,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Agent, createServer as createSecure, request as requestSecure } from 'node:https';
import { createServer, connect, type AddressInfo, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { text } from 'node:stream/consumers';
import { makeAuthority, makeServerCertificate, type PemPair } from '@svc/certificates';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LiveEgressRule } from '../../../../domain/egress-rules/egress-rule.ts';
import { NoPublicAddress } from './upstream-lookup.ts';
import { SecretGateway } from './secret-gateway.ts';

const HOST = 'api.example.com';
const SECRET = 'Bearer s3cret-value';
const rule = (fields: Partial<LiveEgressRule> = {}): LiveEgressRule => ({
  host: HOST,
  header: 'authorization',
  query: null,
  insecure: false,
  content: SECRET,
  ...fields,
});

describe('a gateway between a client and the host of a rule', () => {
  const usual = getCACertificates('default');
  let inside: PemPair;
  let upstream: Server;
  let plain: Server;
  let doors: { secure: ReturnType<typeof createServer>; plain: ReturnType<typeof createServer> };
  let gateway: SecretGateway;
  const seen: IncomingMessage[] = [];
  const nowMs = Date.now();
  let respond: (request: IncomingMessage, response: ServerResponse) => void;
  const toLoopback: LookupFunction = (host, options, callback) => {
    if (host === 'private.example.com') callback(new NoPublicAddress('private'), '', 4);
    else if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
    else callback(null, '127.0.0.1', 4);
  };
  const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;
  const listen = async <Listening extends ReturnType<typeof createServer> | Server>(
    server: Listening,
  ): Promise<Listening> => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };

  beforeAll(async () => {
    inside = await makeAuthority('inside', new Date());
    const outside = await makeAuthority('outside', new Date());
    setDefaultCACertificates([...usual, outside.cert]);
    const certificate = await makeServerCertificate(outside, [HOST, '*.wild.example.com'], new Date());
    const handle = (request: IncomingMessage, response: ServerResponse): void => {
      seen.push(request);
      respond(request, response);
    };
    upstream = await listen(createSecure(certificate, handle));
    upstream.keepAliveTimeout = 0; // it ends no connection itself
    upstream.on('upgrade', (request, socket) => {
      seen.push(request);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello ');
      socket.pipe(socket);
    });
    plain = await listen(createPlain(handle));
  });
  afterAll(() => {
    setDefaultCACertificates(usual);
    upstream.close();
    plain.close();
  });
  beforeEach(async () => {
    seen.length = 0;
    respond = (_request, response) => response.end('answer');
    gateway = new SecretGateway({
      rules: [rule(), rule({ host: '*.wild.example.com' }), rule({ host: 'private.example.com' })],
      authority: inside,
      isAllowed: () => true,
      issue: (authority, host) => makeServerCertificate(authority, [host], new Date()),
      lookup: toLoopback,
      nowMs: () => nowMs,
      ports: { secure: portOf(upstream), plain: portOf(plain) },
    });
    const door = (isSecure: boolean) =>
      listen(createServer({ noDelay: true }, (socket: Socket) => gateway.accept(socket, isSecure)));
    doors = { secure: await door(true), plain: await door(false) };
  });
  afterEach(() => {
    gateway.close();
    doors.secure.close();
    doors.plain.close();
  });

  interface Wish {
    host?: string;
    path?: string;
    method?: string;
    headers?: Record<string, string>;
    body?: string;
    agent?: Agent;
  }
  const ask = async ({ host = HOST, path = '/', method = 'GET', headers = {}, body, agent }: Wish = {}) => {
    const options = { port: portOf(doors.secure), host: '127.0.0.1', servername: host, ca: inside.cert };
    const request = requestSecure({ ...options, path, method, headers: { host, ...headers }, ...(agent && { agent }) });
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return { status: response.statusCode, headers: response.headers, text: await text(response) };
  };
  const handshake = (servername: string, ALPNProtocols?: string[]): TLSSocket =>
    connectTls({
      port: portOf(doors.secure),
      host: '127.0.0.1',
      servername,
      ca: inside.cert,
      ...(ALPNProtocols && { ALPNProtocols }),
    });

  it('sets the header over that of the client, and passes the rest on', async () => {
    respond = (request, response) => {
      response.writeHead(207, { 'x-from': 'upstream' });
      request.pipe(response);
    };
    const answer = await ask({
      method: 'POST',
      path: '/v1?a=b',
      headers: { Authorization: 'mine', 'x-mine': '1' },
      body: 'body',
    });
    expect(answer).toMatchObject({ status: 207, text: 'body', headers: { 'x-from': 'upstream' } });
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url: '/v1?a=b',
      headers: { authorization: SECRET, 'x-mine': '1', host: HOST },
    });
  });

  it('streams both ways at once', async () => {
    respond = (request, response) => void request.pipe(response);
    const options = { port: portOf(doors.secure), host: '127.0.0.1', servername: HOST, ca: inside.cert };
    const request = requestSecure({ ...options, method: 'POST', headers: { host: HOST } });
    request.write('one');
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(String((await once(response, 'data'))[0])).toBe('one');
    request.write('two');
    expect(String((await once(response, 'data'))[0])).toBe('two');
    request.end();
    await once(response, 'end');
  });

  it('frames a chunked body of a method that usually has none', async () => {
    respond = (request, response) => void request.pipe(response);
    const headers = { 'transfer-encoding': 'chunked' };
    const smuggled = 'GET /second HTTP/1.1\r\nhost: x\r\n\r\n';
    expect((await ask({ method: 'DELETE', headers, body: smuggled })).text).toBe(smuggled);
    expect(seen).toHaveLength(1);
  });

  it('passes a WebSocket', async () => {
    const socket = handshake(HOST);
    await once(socket, 'secureConnect');
    socket.write(`GET /ws HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    await expect.poll(() => received).toMatch(/^HTTP\/1\.1 101 .*\r\n\r\nhello $/s);
    socket.write('ping');
    await expect.poll(() => received).toMatch(/ping$/);
    expect(seen[0]?.headers).toMatchObject({ authorization: SECRET, upgrade: 'websocket' });
    gateway.update([]);
    await once(socket, 'close');
  });

  it.each([
    ['another Host', { headers: { host: 'evil.example.com' } }, 421, 'EGRESS_WRONG_HOST'],
    ['another port in Host', { headers: { host: `${HOST}:8443` } }, 421, 'EGRESS_WRONG_HOST'],
    ['an absolute target', { path: 'https://evil.example.com/' }, 405, 'EGRESS_WRONG_TARGET'],
    ['TRACE, which returns headers', { method: 'TRACE' }, 405, 'EGRESS_WRONG_TARGET'],
    ['a host without a public address', { host: 'private.example.com' }, 502, 'EGRESS_NO_ADDRESS'],
    ['a host with the certificate of another', { host: 'deep.below.wild.example.com' }, 502, 'EGRESS_UNTRUSTED'],
  ] as const)('refuses %s, and sends nothing', async (_name, wish, status, code) => {
    const answer = await ask(wish);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([status, expect.objectContaining({ code })]);
    expect(answer.text).not.toContain('s3cret');
    expect(seen).toHaveLength(0);
  });

  it('has no certificate for hosts without a rule, and speaks HTTP/1.1 only', async () => {
    for (const socket of [handshake('other.example.com'), handshake('wild.example.com'), handshake(HOST, ['h2'])]) {
      await expect(once(socket, 'secureConnect')).rejects.toThrow();
    }
    const both = handshake(HOST, ['h2', 'http/1.1']);
    await once(both, 'secureConnect');
    expect(both.alpnProtocol).toBe('http/1.1');
    both.destroy();
  });

  it('refuses plain HTTP until a rule allows it', async () => {
    const askPlain = async () => {
      const request = requestPlain({ port: portOf(doors.plain), host: '127.0.0.1', headers: { host: HOST } }).end();
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return { status: response.statusCode, text: await text(response) };
    };
    expect(await askPlain()).toMatchObject({ status: 403, text: expect.stringContaining('EGRESS_NEEDS_HTTPS') });
    gateway.update([rule({ insecure: true })]);
    expect(await askPlain()).toMatchObject({ status: 200 });
    expect(seen.map(({ headers }) => headers.authorization)).toEqual([SECRET]);
  });

  it('ends kept connections when a secret changes, and those of no other host', async () => {
    const agents = [
      new Agent({ keepAlive: true, maxSockets: 1 }),
      new Agent({ keepAlive: true, maxSockets: 1 }),
    ] as const;
    const others = { host: 'a.wild.example.com', agent: agents[1] };
    await ask({ agent: agents[0] });
    await ask(others);
    const first = seen.map(({ socket }) => socket);
    gateway.update([rule({ content: 'Bearer new' }), rule({ host: '*.wild.example.com' })]);
    await once(first[0] as Socket, 'close');
    await ask(others);
    await ask();
    expect(seen.map(({ headers }) => headers.authorization)).toEqual([SECRET, SECRET, SECRET, 'Bearer new']);
    expect(seen[2]?.socket).toBe(first[1]);
    gateway.update([]);
    await once(first[1] as Socket, 'close');
    for (const agent of agents) agent.destroy();
  });

  it('ends a request under way when its rule goes', async () => {
    respond = (_request, response) => void response.write('begun');
    const options = { port: portOf(doors.secure), host: '127.0.0.1', servername: HOST, ca: inside.cert };
    const request = requestSecure({ ...options, headers: { host: HOST } }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await once(response, 'data');
    gateway.update([]);
    await expect(once(response, 'end')).rejects.toThrow();
  });

  it('limits the requests of a sandbox', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const answers = [];
    for (let asked = 0; asked < 300; asked += 1) answers.push(await ask({ agent }));
    // One of the 300 was the handshake.
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(299);
    expect(JSON.parse(answers.at(-1)?.text ?? '')).toMatchObject({ code: 'EGRESS_RATE_LIMITED' });
    agent.destroy();
  });

  it('survives clients and hosts that break off', async () => {
    const socket = connect(portOf(doors.secure), '127.0.0.1');
    await once(socket, 'connect');
    socket.write('this is no TLS');
    await once(socket, 'close');
    respond = (request) => request.socket.destroy();
    expect(JSON.parse((await ask()).text)).toMatchObject({ code: 'EGRESS_UNREACHABLE' });
    respond = (_request, response) => response.end('answer');
    expect((await ask()).text).toBe('answer');
  });
});
