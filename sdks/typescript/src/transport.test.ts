import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ApiError,
  ConflictError,
  NetworkError,
  NotFoundError,
  RateLimitedError,
  ServerError,
  TimeoutError,
  UnauthorizedError,
  UnexpectedAnswerError,
} from './errors.ts';
import { Transport, type Credential } from './transport.ts';

describe('the transport', () => {
  let server: Server;
  let seen: IncomingMessage[];
  let answer: (request: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    seen = [];
    server = createServer((request, response) => {
      seen.push(request);
      request.resume();
      answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const transport = (credential: Credential = { kind: 'none' }, maxAnswerBytes?: number): Transport => {
    const { port } = server.address() as AddressInfo; // a listening TCP server
    const limit = maxAnswerBytes === undefined ? {} : { maxAnswerBytes };
    return new Transport({ baseUrl: `http://127.0.0.1:${port}/`, credential, ...limit });
  };
  const json = (status: number, body: unknown, headers: Record<string, string> = {}) => {
    answer = (_request, response) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

  it('omits empty parameters and encodes the others', async () => {
    json(200, {});
    const query = { name: 'a b&c', none: undefined, nothing: null, empty: '', zero: 0, off: false };
    await transport().call({ method: 'GET', path: '/api/tokens', query });
    expect(seen[0]?.url).toBe('/api/tokens?name=a+b%26c&zero=0&off=false');
  });

  it('sends a token as a bearer, and a session’s CSRF token only with changes', async () => {
    json(200, {});
    await transport({ kind: 'token', token: 'svc_pat_x' }).call({ method: 'GET', path: '/a' });
    const session = transport({ kind: 'session', csrfToken: () => 'csrf-1' });
    await session.call({ method: 'GET', path: '/b' });
    await session.call({ method: 'DELETE', path: '/c' });
    expect(seen.map(({ headers }) => [headers.authorization, headers['x-csrf-token']])).toEqual([
      ['Bearer svc_pat_x', undefined],
      [undefined, undefined],
      [undefined, 'csrf-1'],
    ]);
  });

  it('returns undefined for an empty body', async () => {
    answer = (_request, response) => response.writeHead(204).end();
    expect(await transport().call({ method: 'DELETE', path: '/a' })).toBeUndefined();
  });

  it.each([
    ['flat', { error: 'Gone', code: 'NOT_FOUND', message: 'Gone', request_id: 'req-1', details: { field: 'id' } }],
    ['nested', { error: { code: 'NOT_FOUND', message: 'Gone', details: { field: 'id' } } }],
    ['enveloped', { success: false, message: 'Gone', data: { code: 'NOT_FOUND', request_id: 'req-1' } }],
  ])('parses a %s error', async (_shape, body) => {
    json(404, body, { 'x-request-id': 'req-1' });
    const error: unknown = await transport()
      .call({ method: 'GET', path: '/a' })
      .catch((raised: unknown) => raised);
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ status: 404, code: 'NOT_FOUND', message: 'Gone', requestId: 'req-1' });
  });

  it.each([
    [401, UnauthorizedError],
    [409, ConflictError],
    [418, ApiError],
    [500, ServerError],
    [503, ServerError],
  ])('has a class for %d', async (status, Class) => {
    json(status, {});
    await expect(transport().call({ method: 'GET', path: '/a' })).rejects.toBeInstanceOf(Class);
  });

  it('reports when to retry', async () => {
    json(429, { code: 'TOO_MANY_ATTEMPTS' }, { 'retry-after': '30' });
    const call = transport().call({ method: 'POST', path: '/a', body: {} });
    await expect(call).rejects.toBeInstanceOf(RateLimitedError);
    await expect(call).rejects.toMatchObject({ retryAfterSeconds: 30 });
  });

  it('returns a usable error for a proxy’s own page', async () => {
    answer = (_request, response) => response.writeHead(502).end('<h1>Bad Gateway</h1>');
    await expect(transport().call({ method: 'GET', path: '/a' })).rejects.toMatchObject({
      status: 502,
      code: 'HTTP_502',
    });
  });

  it('rejects a response that is not JSON or too large', async () => {
    answer = (_request, response) => response.writeHead(200).end('<h1>Welcome</h1>');
    await expect(transport().call({ method: 'GET', path: '/a' })).rejects.toBeInstanceOf(UnexpectedAnswerError);
    json(200, { text: 'x'.repeat(2000) });
    await expect(transport(undefined, 1000).call({ method: 'GET', path: '/a' })).rejects.toThrow(
      'larger than 1000 bytes',
    );
  });

  it('gives up after its timeout', async () => {
    answer = () => undefined; // never responds
    await expect(transport().call({ method: 'GET', path: '/a', timeoutMs: 20 })).rejects.toBeInstanceOf(TimeoutError);
  });

  it('also gives up on a response that begins and never ends', async () => {
    answer = (_request, response) => {
      response.writeHead(200);
      response.write('{');
    };
    await expect(transport().call({ method: 'GET', path: '/a', timeoutMs: 50 })).rejects.toBeInstanceOf(TimeoutError);
  });

  it('rejects with the caller’s own reason on abort', async () => {
    answer = () => undefined; // never responds
    const controller = new AbortController();
    const call = transport().call({ method: 'GET', path: '/a', signal: controller.signal });
    controller.abort(new Error('the page was left'));
    await expect(call).rejects.toThrow('the page was left');
  });

  it('distinguishes an unreachable platform from one that refuses', async () => {
    const lost = transport();
    await new Promise((resolve) => server.close(resolve));
    await expect(lost.call({ method: 'GET', path: '/a' })).rejects.toBeInstanceOf(NetworkError);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)); // for afterEach
  });
});
