import { fakeAccess, fakeAudit, type FakeAccess } from '@svc/testing';
import { createLogger, createMetrics, type Metrics } from '@svc/telemetry';
import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpApp } from './app.ts';
import { useErrorRenderer } from './error-answers.ts';
import { httpErrors } from './errors.ts';
import type { HttpApp } from './http-app.ts';
import { renderEnvelopeError, renderNestedError } from './renderers.ts';

interface Line {
  level: string;
  msg: string;
  [field: string]: unknown;
}

let lines: Line[];
let access: FakeAccess;
let metrics: Metrics;
let app: HttpApp;

async function createApp(): Promise<HttpApp> {
  lines = [];
  metrics = createMetrics();
  const write = (line: string) => void lines.push(JSON.parse(line) as Line); // our own JSON lines
  const log = createLogger({ level: 'debug', name: 'test', destination: { write } });
  return createHttpApp({
    log,
    metrics,
    access,
    audit: fakeAudit(),
    version: 'test',
    errorFamilies: [
      { prefix: '/v1', render: renderNestedError },
      { prefix: '/api/v1/workspace', render: renderEnvelopeError },
    ],
  });
}

const thing = Type.Object(
  { name: Type.String({ minLength: 2 }), size: Type.Optional(Type.Integer({ minimum: 0 })) },
  { additionalProperties: false },
);

async function addThings(target: HttpApp): Promise<void> {
  target.post(
    '/api/things',
    { config: { action: 'thing:create' }, schema: { tags: ['things'], body: thing } },
    async () => ({}),
  );
  target.get('/api/things/:id', { config: { action: 'thing:read' } }, async () => ({}));
  target.delete('/api/things/:id', { config: { action: 'thing:delete' } }, async () => ({}));
  await target.register(async (part: HttpApp) => {
    useErrorRenderer(part, renderNestedError);
    part.post('/v1/things', { config: { action: 'thing:create' }, schema: { body: thing } }, async () => ({}));
    part.get('/v1/fault', { config: { public: true } }, async () => {
      throw new Error('the password is hunter2');
    });
  });
  await target.register(async (part: HttpApp) => {
    useErrorRenderer(part, renderEnvelopeError);
    part.post(
      '/api/v1/workspace/:workspace_uuid/things',
      { config: { action: 'thing:create' }, schema: { body: thing } },
      async () => ({}),
    );
  });
}

beforeEach(async () => {
  access = fakeAccess();
  app = await createApp();
  await addThings(app);
});

afterEach(() => app.close());

const asJson = { 'content-type': 'application/json' };

describe('validation', () => {
  it('names each field that is wrong, in the flat shape', async () => {
    const answer = await app.inject({
      method: 'POST',
      url: '/api/things',
      headers: access.user('owner').headers,
      payload: { name: 'a', size: -1, colour: 'red' },
    });
    expect(answer.statusCode).toBe(400);
    const issues = [
      { field: 'colour', issue: 'is not known here' },
      { field: 'name', issue: 'must NOT have fewer than 2 characters' },
      { field: 'size', issue: 'must be >= 0' },
    ];
    const sentence = 'Invalid request: colour is not known here';
    expect(answer.json()).toEqual({
      error: sentence,
      code: 'INVALID_REQUEST',
      message: sentence,
      status: 400,
      request_id: answer.headers['x-request-id'],
      details: { reason: 'colour is not known here', field: 'colour', issues },
    });
  });

  it('names the field that is missing, in the nested shape', async () => {
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/things',
      headers: access.user('owner').headers,
      payload: {},
    });
    expect(answer.json()).toEqual({
      error: {
        code: 'INVALID_REQUEST',
        message: 'Invalid request: name is required',
        details: expect.objectContaining({ field: 'name', reason: 'name is required' }),
      },
    });
  });

  it('names the values that a field may have, once, and leaves out that it could be absent', async () => {
    const colours = Type.Union([Type.Literal('red'), Type.Literal('blue')]);
    const body = Type.Union([Type.Object({ colour: Type.Union([colours, Type.Null()]) }), Type.Null()]);
    app.post('/api/colours', { config: { action: 'thing:create' }, schema: { body } }, async () => ({}));
    const answer = await app.inject({
      method: 'POST',
      url: '/api/colours',
      headers: access.user('owner').headers,
      payload: { colour: 'green' },
    });
    expect(answer.json().details).toEqual({
      reason: 'colour must be one of red, blue',
      field: 'colour',
      issues: [{ field: 'colour', issue: 'must be one of red, blue' }],
    });
  });

  it('lists the fields in the envelope', async () => {
    const owner = access.user('owner');
    const answer = await app.inject({
      method: 'POST',
      url: `/api/v1/workspace/${owner.workspaceUuid}/things`,
      headers: owner.headers,
      payload: { name: 'ab', size: '7' },
    });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toEqual({
      success: false,
      message: 'Invalid request: size must be integer',
      data: {
        code: 'InvalidRequest',
        request_id: answer.headers['x-request-id'],
        resource: null,
        details: [{ field: 'size', issue: 'must be integer' }],
      },
    });
  });

  it('tells one fault of a body that has too many to look at', async () => {
    const list = Type.Object({ items: Type.Array(Type.Integer()) });
    app.post('/api/lists', { config: { action: 'thing:create' }, schema: { body: list } }, async () => ({}));
    const answer = await app.inject({
      method: 'POST',
      url: '/api/lists',
      headers: access.user('owner').headers,
      payload: { items: Array.from({ length: 50_000 }, () => 'x') },
    });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().details.issues).toEqual([{ field: 'items.0', issue: 'must be integer' }]);
  });

  it.each([
    ['malformed JSON', '{"name":', 'the body is not valid JSON'],
    ['no body', '', 'the body is empty'],
    ['a poisoned prototype', '{"name":"ab","__proto__":{"admin":true}}', 'the body is not valid JSON'],
    ['JSON nested without end', '['.repeat(200_000), 'the body is not valid JSON'],
  ])('refuses %s', async (_what, payload, reason) => {
    const answer = await app.inject({
      method: 'POST',
      url: '/api/things',
      headers: { ...access.user('owner').headers, ...asJson },
      payload,
    });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'INVALID_REQUEST', details: { field: 'body', reason } });
  });

  it('refuses a content type that no one reads', async () => {
    const answer = await app.inject({
      method: 'POST',
      url: '/api/things',
      headers: { ...access.user('owner').headers, 'content-type': 'application/x-thing' },
      payload: 'x',
    });
    expect(answer.statusCode).toBe(415);
    expect(answer.json()).toMatchObject({
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: 'Unsupported content type application/x-thing',
      details: { field: 'content-type' },
    });
  });

  it('refuses a body above the limit and says the limit', async () => {
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/things',
      headers: access.user('owner').headers,
      payload: { name: 'x'.repeat(1024 * 1024) },
    });
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toEqual({
      error: {
        code: 'PAYLOAD_TOO_LARGE',
        message: 'The request body is larger than 1048576 bytes',
        details: { field: 'body', reason: 'is too large', limit_bytes: 1024 * 1024 },
      },
    });
  });

  it('refuses a path that is no valid percent-encoding', async () => {
    const answer = await app.inject({ url: '/v1/things/%zz' });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().error).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
  });
});

describe('a route that is not there', () => {
  it('is 404 in the shape of its family, whatever body it is sent', async () => {
    const headers = { 'content-type': 'application/x-thing' };
    const flat = await app.inject({ method: 'POST', url: '/api/nothing?token=hunter2', headers, payload: 'x' });
    expect(flat.statusCode).toBe(404);
    expect(flat.json()).toMatchObject({
      error: 'Not found',
      code: 'NOT_FOUND',
      details: { reason: 'no route POST /api/nothing' },
    });
    const nested = await app.inject({ url: '/v1/nothing' });
    expect(nested.json()).toEqual({
      error: {
        code: 'NOT_FOUND',
        message: 'Not found',
        details: { field: 'request', reason: 'no route GET /v1/nothing' },
      },
    });
    const envelope = await app.inject({ url: '/api/v1/workspace/x/nothing' });
    expect(envelope.json()).toMatchObject({ success: false, data: { code: 'NotFound', details: [] } });
  });

  it('is 405 with Allow where only the method is wrong, in the shape of its family', async () => {
    const flat = await app.inject({ method: 'PUT', url: '/api/things/7/' });
    expect(flat.statusCode).toBe(405);
    expect(flat.headers['allow']).toBe('DELETE, GET, HEAD');
    expect(flat.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED', details: { allowed: ['DELETE', 'GET', 'HEAD'] } });
    const nested = await app.inject({ method: 'GET', url: '/v1/things' });
    expect(nested.statusCode).toBe(405);
    expect(nested.headers['allow']).toBe('POST');
    expect(nested.json()).toMatchObject({ error: { code: 'METHOD_NOT_ALLOWED' } });
  });

  it('is observed under one name, so that guesses make no time series', async () => {
    await app.inject({ url: '/api/a' });
    await app.inject({ url: '/api/b' });
    expect(await metrics.render()).toContain(
      'svc_http_request_duration_seconds_count{method="GET",route="unknown",status="404"} 2',
    );
  });
});

describe('a fault of ours', () => {
  it('is logged once and answered with nothing but the request id', async () => {
    const answer = await app.inject({ url: '/v1/fault', headers: { 'x-request-id': 'mine-1234' } });
    expect(answer.statusCode).toBe(500);
    const details = { field: 'request', reason: 'Internal error' };
    expect(answer.json()).toEqual({ error: { code: 'INTERNAL_ERROR', message: 'Internal error', details } });
    expect(answer.headers['x-request-id']).toBe('mine-1234');
    expect(lines.filter((line) => line.level === 'error')).toEqual([
      expect.objectContaining({ request_id: 'mine-1234', err: expect.objectContaining({ type: 'Error' }) }),
    ]);
  });

  it('carries the request id in the body of the shapes that have a place for it', async () => {
    app.get('/api/fault', { config: { public: true } }, async () => {
      throw new TypeError('undefined is not a function');
    });
    const answer = await app.inject({ url: '/api/fault' });
    expect(answer.json()).toMatchObject({ code: 'internal_error', request_id: answer.headers['x-request-id'] });
    expect(answer.body).not.toContain('undefined');
  });

  it('differs from a refusal that was foreseen, which is a warning', async () => {
    app.get('/api/away', { config: { public: true } }, async () => {
      throw httpErrors.SHUTTING_DOWN({ headers: { 'retry-after': '5' } });
    });
    const answer = await app.inject({ url: '/api/away' });
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('5');
    expect(lines.filter((line) => line.level === 'error')).toEqual([]);
    expect(lines.filter((line) => line.level === 'warn')).toHaveLength(1);
  });
});
