import { fakeAccess, fakeAudit, type FakeAccess, type FakeAudit } from '@svc/testing';
import { createLogger, createMetrics, type Metrics } from '@svc/telemetry';
import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpApp, type HttpAppOptions } from './app.ts';
import { grantOf, principalOf } from './guard.ts';
import type { HttpApp } from './http-app.ts';

interface Line {
  level: string;
  msg: string;
  [field: string]: unknown;
}

let lines: Line[];
let access: FakeAccess;
let audit: FakeAudit;
let metrics: Metrics;
let app: HttpApp;

async function createApp(options: Partial<HttpAppOptions> = {}): Promise<HttpApp> {
  lines = [];
  metrics = createMetrics();
  const write = (line: string) => void lines.push(JSON.parse(line) as Line); // our own JSON lines
  const log = createLogger({ level: 'debug', name: 'test', destination: { write } });
  return createHttpApp({
    log,
    metrics,
    access,
    audit,
    version: 'test',
    ...options,
  });
}

const thing = Type.Object(
  { name: Type.String({ minLength: 2 }), size: Type.Optional(Type.Integer({ minimum: 0 })) },
  { additionalProperties: false },
);

function addThings(target: HttpApp): void {
  target.post(
    '/api/things',
    { config: { action: 'thing:create' }, schema: { tags: ['things'], body: thing } },
    async (request) => ({ name: request.body.name, workspace: grantOf(request).workspaceUuid }),
  );
  target.get('/api/things/:id', { config: { action: 'thing:read' } }, async (request) => principalOf(request).name);
  target.delete('/api/things/:id', { config: { action: 'thing:delete' } }, async () => ({}));
}

beforeEach(async () => {
  access = fakeAccess();
  audit = fakeAudit();
  app = await createApp();
  addThings(app);
});

afterEach(() => app.close());

const asJson = { 'content-type': 'application/json' };

describe('the guard', () => {
  it('refuses at registration a route that declares neither an action nor public', () => {
    expect(() => app.get('/api/open', async () => ({}))).toThrow(
      'route GET /api/open declares neither an action nor public',
    );
  });

  it('answers 401 without a token and with a wrong one, before the body is read', async () => {
    for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
      const answer = await app.inject({
        method: 'POST',
        url: '/api/things',
        headers: { ...headers, ...asJson },
        payload: '{"not even": json',
      });
      expect(answer.statusCode).toBe(401);
      expect(answer.json()).toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
    }
  });

  it('accepts a token as X-API-Key where the route says so, and prefers an Authorization header', async () => {
    const { token } = access.user('ann');
    app.get('/api/keyed', { config: { action: 'thing:read', acceptsApiKey: true } }, async () => ({}));
    const ask = async (url: string, headers: Record<string, string>) =>
      (await app.inject({ url, headers: { 'x-api-key': token, ...headers } })).statusCode;
    expect(await ask('/api/keyed', {})).toBe(200);
    expect(await ask('/api/keyed', { authorization: 'Bearer wrong' })).toBe(401);
    expect(await ask('/api/things/1', {})).toBe(401);
  });

  it('answers 403 before the body is read, when the role is too low', async () => {
    const owner = access.user('owner');
    const reader = access.user('reader');
    const team = access.team(owner.workspaceUuid);
    access.join(team, reader, 'guest');
    const answer = await app.inject({
      method: 'POST',
      url: `/api/things?workspace_uuid=${owner.workspaceUuid}&team_uuid=${team}`,
      headers: { ...reader.headers, ...asJson },
      payload: '{"not even": json',
    });
    expect(answer.statusCode).toBe(403);
  });

  it('answers 404 for a foreign workspace', async () => {
    const answer = await app.inject({
      method: 'POST',
      url: `/api/things?workspace_uuid=${access.user('other').workspaceUuid}`,
      headers: access.user('owner').headers,
      payload: { name: 'ab' },
    });
    expect(answer.statusCode).toBe(404);
  });

  it('gives the route its principal and the grant of the default workspace', async () => {
    const owner = access.user('owner');
    const answer = await app.inject({
      method: 'POST',
      url: '/api/things',
      headers: owner.headers,
      payload: { name: 'ab' },
    });
    expect(answer.json()).toEqual({ name: 'ab', workspace: owner.workspaceUuid });
  });
});

describe('the audit log', () => {
  it('has a change before it is answered, and no read', async () => {
    const owner = access.user('owner');
    app.addHook('onResponse', async () => expect(audit.entries).toHaveLength(1));
    await app.inject({ method: 'DELETE', url: '/api/things/7', headers: owner.headers });
    await app.inject({ method: 'GET', url: '/api/things/7', headers: owner.headers });
    expect(audit.entries).toEqual([
      expect.objectContaining({ action: 'thing:delete', resource: '7', outcome: 'success', status: 200 }),
    ]);
  });

  it('has a refused change of somebody known, and nothing of strangers, who could fill it', async () => {
    await app.inject({ method: 'DELETE', url: '/api/things/7' });
    expect(audit.entries).toEqual([]);
    const { workspaceUuid } = access.user('other');
    const owner = access.user('owner');
    await app.inject({
      method: 'DELETE',
      url: `/api/things/7?workspace_uuid=${workspaceUuid}`,
      headers: owner.headers,
    });
    expect(audit.entries).toEqual([expect.objectContaining({ outcome: 'refused', status: 404, workspaceUuid: null })]);
  });

  it('that cannot be written does not turn a change that was made into an error', async () => {
    await app.close();
    app = await createApp({
      audit: {
        record: async () => {
          throw new Error('the disk is full');
        },
      },
    });
    addThings(app);
    const answer = await app.inject({ method: 'DELETE', url: '/api/things/7', headers: access.user('owner').headers });
    expect(answer.statusCode).toBe(200);
    expect(lines.filter((line) => line.level === 'error')).toEqual([
      expect.objectContaining({ msg: 'the audit entry could not be written' }),
    ]);
  });
});

describe('every answer', () => {
  it("carries the caller's request id when it cannot break a log line, else a new one", async () => {
    for (const id of ['abcdefgh', '0123-4567_89.ab:cd', 'x'.repeat(64)]) {
      expect((await app.inject({ url: '/api/x', headers: { 'x-request-id': id } })).headers['x-request-id']).toBe(id);
    }
    for (const id of ['short', 'x'.repeat(65), 'has space', 'line\u0085break', '{"a":1}aaaa', '']) {
      const answer = await app.inject({ url: '/api/x', headers: { 'x-request-id': id } });
      expect(answer.headers['x-request-id']).toMatch(/^req_[0-9a-f]{24}$/);
    }
  });

  it('has the headers that keep browsers and caches from guessing, unless its route says otherwise', async () => {
    app.get('/api/cached', { config: { public: true } }, async (_request, reply) =>
      reply.header('cache-control', 'public, max-age=60').send({}),
    );
    const plain = await app.inject({ url: '/api/things/7', headers: access.user('owner').headers });
    expect(plain.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    const cached = await app.inject({ url: '/api/cached' });
    expect(cached.headers['cache-control']).toBe('public, max-age=60');
    expect(cached.headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'");
  });

  it('to HEAD has the headers of GET and no body', async () => {
    const headers = access.user('owner').headers;
    const get = await app.inject({ method: 'GET', url: '/api/things/7', headers });
    const head = await app.inject({ method: 'HEAD', url: '/api/things/7', headers });
    expect(head.statusCode).toBe(200);
    expect(head.body).toBe('');
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect((await app.inject({ method: 'HEAD', url: '/api/things/7' })).statusCode).toBe(401);
  });

  it("is one line in the log, with the route's time and no secret of its URL", async () => {
    await app.inject({ url: '/api/things/7?token=hunter2', headers: access.user('owner').headers });
    const requests = lines.filter((line) => line.msg === 'request');
    expect(requests).toEqual([
      expect.objectContaining({
        level: 'info',
        method: 'GET',
        url: '/api/things/7?token=***',
        status: 200,
        request_id: expect.stringMatching(/^req_/),
        duration_ms: expect.any(Number),
      }),
    ]);
    expect(await metrics.render()).toContain('route="/api/things/:id",status="200"} 1');
  });
});

describe('the address of a client', () => {
  const address = async (options: Partial<HttpAppOptions>): Promise<string> => {
    await app.close();
    app = await createApp(options);
    app.get('/api/ip', { config: { public: true } }, async (request) => request.ip);
    return (await app.inject({ url: '/api/ip', headers: { 'x-forwarded-for': '203.0.113.9' } })).body;
  };

  it('is that of the connection unless a proxy is trusted', async () => {
    expect(await address({})).toBe('127.0.0.1');
    expect(await address({ trustedProxies: [] })).toBe('127.0.0.1');
    expect(await address({ trustedProxies: ['10.0.0.0/8'] })).toBe('127.0.0.1');
  });

  it('is what a trusted proxy says', async () => {
    expect(await address({ trustedProxies: ['127.0.0.0/8'] })).toBe('203.0.113.9');
  });
});
