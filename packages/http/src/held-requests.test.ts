import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createGrantedAccess, HeldRights } from '@svc/access';
import { fakeAccess, fakeAudit, fakeClock, type FakeAccess, type FakeCaller, type FakeClock } from '@svc/testing';
import { createLogger, createMetrics } from '@svc/telemetry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpApp } from './app.ts';
import type { HttpApp } from './http-app.ts';
import { createListener, type Listener } from './listener.ts';

let clock: FakeClock;
let access: FakeAccess;
let rights: HeldRights;
let app: HttpApp;
let listener: Listener;
let port: number;
let owner: FakeCaller;
/** Resolves when a handler starts, with the state of the underlying connection. */
let begun: PromiseWithResolvers<{ closed: Promise<unknown> }>;
/** Response of the latest request. */
let newest: ServerResponse;

beforeEach(async () => {
  clock = fakeClock();
  access = fakeAccess();
  owner = access.user('owner');
  begun = Promise.withResolvers();
  rights = new HeldRights({
    nowMs: () => clock.nowMs(),
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
    onError: (error) => expect.unreachable(String(error)),
  });
  const log = createLogger({ level: 'silent', name: 'test' });
  app = await createHttpApp({ log, metrics: createMetrics(), access, audit: fakeAudit(), version: '0', rights });
  addRoutes(app);
  await app.ready();
  listener = createListener({
    handler: (request, response) => {
      newest = response;
      app.routing(request, response);
    },
  });
  port = await listener.listen(0, '127.0.0.1');
});

afterEach(async () => {
  await listener.close(0);
  await app.close();
});

async function* endless(): AsyncGenerator<string> {
  yield 'first\n';
  await new Promise(() => undefined);
}

function addRoutes(target: HttpApp): void {
  const begin = (raw: NodeJS.EventEmitter): void => begun.resolve({ closed: once(raw, 'close') });
  target.get('/stream', { config: { action: 'thing:read' } }, (_request, reply) => {
    begin(reply.raw);
    return reply.send(Readable.from(endless()));
  });
  target.get('/raw', { config: { action: 'thing:read' } }, (_request, reply) => {
    begin(reply.raw);
    reply.hijack();
    reply.raw.writeHead(200).write('first\n');
  });
  target.get('/waiting', { config: { action: 'thing:read' } }, async (_request, reply) => {
    begin(reply.raw);
    await once(reply.raw, 'close');
    return { late: true };
  });
  target.post('/upload', { config: { action: 'thing:create', rawBody: true } }, async (request, reply) => {
    begin(reply.raw);
    return { sizeBytes: (await text(request.raw)).length };
  });
  target.get('/own', { config: { action: 'thing:read', scope: 'self' } }, (_request, reply) => {
    begin(reply.raw);
    return reply.send(Readable.from(endless()));
  });
  const grantedEarlier = async () => {
    const action = 'thing:read' as const;
    const grant = await access.authorize({ principal: owner.principal, action });
    return createGrantedAccess(owner.principal, rights.now(), action, grant);
  };
  target.get('/by-capability', { config: { action: 'thing:read', grantedEarlier } }, (_request, reply) => {
    begin(reply.raw);
    return reply.send(Readable.from(endless()));
  });
  const unheld = 'it ends its own right';
  target.delete('/self', { config: { action: 'thing:delete', unheld } }, async (_request, reply) => {
    begin(reply.raw);
    access.revoke(owner);
    await clock.advance(10_000);
    return { done: true };
  });
  target.get('/unheld-stream', { config: { action: 'thing:read', unheld } }, () => Readable.from(['x']));
  target.get('/quick', { config: { action: 'thing:read' } }, async () => ({ ok: true }));
  target.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload));
}

function open(path: string, method = 'GET', headers: Record<string, string> = {}) {
  const outgoing = httpRequest({ host: '127.0.0.1', port, path, method, headers: { ...owner.headers, ...headers } });
  outgoing.on('error', () => undefined);
  if (method !== 'POST') outgoing.end();
  const answer = once(outgoing, 'response').then(([response]) => response as IncomingMessage); // Node.js event
  return { outgoing, answer };
}

describe('a guarded request that lasts', () => {
  it.each(['/stream', '/raw', '/own', '/by-capability'])(
    'is cut when its right is gone, whatever its route does (%s)',
    async (path) => {
      const { answer } = open(path);
      const response = await answer;
      const received: string[] = [];
      response.on('data', (chunk: Buffer) => received.push(String(chunk)));
      const cut = once(response, 'error');
      await clock.advance(10_000);
      expect(response.destroyed).toBe(false);
      access.revoke(owner);
      await clock.advance(1_500);
      await (
        await begun.promise
      ).closed;
      expect(String(await cut)).toContain('aborted');
      expect(received.join('')).toBe('first\n');
      expect(rights.size).toBe(0);
    },
  );

  it('is held no more when its client left before it was decided', async () => {
    const asked = Promise.withResolvers<void>();
    const decided = Promise.withResolvers<void>();
    const { authenticate } = access;
    access.authenticate = async (source) => {
      asked.resolve();
      await decided.promise;
      return authenticate(source);
    };
    const { outgoing, answer } = open('/waiting');
    const left = expect(answer).rejects.toThrow();
    await asked.promise;
    const closed = once(newest, 'close');
    outgoing.destroy();
    await Promise.all([closed, left]);
    decided.resolve();
    await begun.promise;
    expect(rights.size).toBe(0);
  });

  it('is answered with the refusal when nothing was answered yet', async () => {
    const { answer } = open('/waiting');
    const { closed } = await begun.promise;
    access.revoke(owner);
    await clock.advance(1_500);
    const response = await answer;
    expect(response.statusCode).toBe(401);
    expect(JSON.parse(await text(response))).toMatchObject({ code: 'UNAUTHORIZED' });
    await closed;
  });

  it('takes in no more of an upload', async () => {
    const { outgoing, answer } = open('/upload', 'POST', { 'content-type': 'application/octet-stream' });
    outgoing.write('some');
    const { closed } = await begun.promise;
    access.revoke(owner);
    await clock.advance(1_500);
    expect((await answer).statusCode).toBe(401);
    await closed;
    outgoing.destroy();
  });

  it('is over with its answer: nothing is held any more', async () => {
    expect((await open('/quick').answer).statusCode).toBe(200);
    await clock.advance(2_000);
    expect(rights.size).toBe(0);
  });
});

describe('a route that is not held', () => {
  it('answers a change that ended its own right', async () => {
    const response = await open('/self', 'DELETE').answer;
    expect(JSON.parse(await text(response))).toEqual({ done: true });
  });

  it('can send no stream', async () => {
    expect((await open('/unheld-stream').answer).statusCode).toBe(500);
  });
});
