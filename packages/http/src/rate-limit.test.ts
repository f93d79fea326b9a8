import { fakeAccess, fakeAudit, fakeClock } from '@svc/testing';
import { createLogger, createMetrics } from '@svc/telemetry';
import { describe, expect, it } from 'vitest';
import { createHttpApp } from './app.ts';
import { RateLimiter, rateLimitHeaders } from './rate-limit.ts';

describe('RateLimiter', () => {
  it('lets a burst through, then one call each time a token is back', async () => {
    const clock = fakeClock();
    const limiter = new RateLimiter({ perMinute: 60, burst: 2 }, clock.nowMs);
    const allowed = () => limiter.take('a').allowed;
    expect([allowed(), allowed(), allowed()]).toEqual([true, true, false]);
    await clock.advance(999);
    expect(allowed()).toBe(false);
    await clock.advance(1_000);
    expect([allowed(), allowed()]).toEqual([true, false]);
  });

  it('is divided by the replicas that share it, and whole again when they are gone', async () => {
    const clock = fakeClock();
    let replicas = 3;
    const limiter = new RateLimiter({ perMinute: 60, burst: 10 }, clock.nowMs, { replicas: () => replicas });
    const countAllowed = (): number =>
      Array.from({ length: 20 }, () => limiter.take('a').allowed).filter(Boolean).length;
    expect([countAllowed(), limiter.take('a').limit]).toEqual([4, 20]);
    await clock.advance(3_000);
    expect(countAllowed()).toBe(1);
    replicas = 1;
    await clock.advance(60_000);
    expect(countAllowed()).toBe(10);
    replicas = 100;
    await clock.advance(60_000);
    expect(countAllowed()).toBe(1); // never nothing
  });

  it('tells limit, remaining calls, the time of the full bucket, and how long to wait', () => {
    const clock = fakeClock('2026-01-01T00:00:00.000Z');
    const limiter = new RateLimiter({ perMinute: 10, burst: 5 }, clock.nowMs);
    expect(limiter.take('a')).toEqual({
      allowed: true,
      limit: 10,
      remaining: 4,
      resetAt: Date.parse('2026-01-01T00:00:06Z') / 1000,
      retryAfterSeconds: 0,
    });
    for (let count = 0; count < 4; count += 1) limiter.take('a');
    const refused = limiter.take('a');
    expect(refused).toMatchObject({ allowed: false, remaining: 0, retryAfterSeconds: 6 });
    expect(rateLimitHeaders(refused)).toEqual({
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(Date.parse('2026-01-01T00:00:30Z') / 1000),
      'retry-after': '6',
    });
  });

  it('counts each key for itself', () => {
    const limiter = new RateLimiter({ perMinute: 1, burst: 1 }, () => 0);
    expect([limiter.take('a').allowed, limiter.take('b').allowed, limiter.take('a').allowed]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('remembers no more callers than it was told, and forgets the longest unused first', () => {
    const limiter = new RateLimiter({ perMinute: 1, burst: 1 }, () => 0, { maxKeys: 100 });
    for (let index = 0; index < 1_000; index += 1) {
      limiter.take(`key ${index}`);
      limiter.take('in use');
    }
    expect(limiter.size).toBe(100);
    expect(limiter.take('in use').allowed).toBe(false);
    expect(limiter.take('key 0').allowed).toBe(true);
  });

  it('takes nothing away when the clock is set back', () => {
    let nowMs = 1_000_000;
    const limiter = new RateLimiter({ perMinute: 60, burst: 2 }, () => nowMs);
    limiter.take('a');
    nowMs = 0;
    expect(limiter.take('a').allowed).toBe(true);
  });
});

describe('the rate limit of a route', () => {
  async function createApp() {
    const clock = fakeClock();
    const access = fakeAccess();
    const app = await createHttpApp({
      log: createLogger({ level: 'silent', name: 'test' }),
      metrics: createMetrics(),
      access,
      audit: fakeAudit(),
      version: 'test',
      nowMs: clock.nowMs,
    });
    const byCaller = { perMinute: 60, burst: 1, by: 'principal' } as const;
    const byAddress = { perMinute: 6, burst: 2, by: 'address' } as const;
    app.get('/a', { config: { action: 'thing:read', rateLimit: byCaller } }, async () => ({}));
    app.get('/b', { config: { action: 'thing:read', rateLimit: byCaller } }, async () => ({}));
    app.post('/login', { config: { public: true, rateLimit: byAddress } }, async () => ({}));
    app.get('/guess', { config: { action: 'thing:read', rateLimit: { ...byAddress } } }, async () => ({}));
    return { app, access, clock };
  }

  it('is counted by principal over all routes that share it', async () => {
    const { app, access, clock } = await createApp();
    const [owner, other] = [access.user('owner'), access.user('other')];
    const get = (url: string, { headers } = owner) => app.inject({ url, headers });
    expect((await get('/a')).headers).toMatchObject({ 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0' });
    const refused = await get('/b');
    expect(refused.statusCode).toBe(429);
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.json()).toMatchObject({ code: 'TOO_MANY_REQUESTS', details: { retry_after_seconds: 1 } });
    expect((await get('/a', other)).statusCode).toBe(200);
    await clock.advance(1_000);
    expect((await get('/b')).statusCode).toBe(200);
    await app.close();
  });

  it('is one for all service accounts of a workspace', async () => {
    const { app, access } = await createApp();
    const workspace = access.user('owner').workspaceUuid;
    const statuses: number[] = [];
    for (const uuid of [workspace, workspace, access.user('other').workspaceUuid]) {
      const { headers } = access.serviceAccount(uuid, ['read']);
      statuses.push((await app.inject({ url: '/a', headers })).statusCode);
    }
    expect(statuses).toEqual([200, 429, 200]);
    await app.close();
  });

  it('is counted by address on a public route, whatever its caller claims', async () => {
    const { app } = await createApp();
    const statuses: number[] = [];
    for (const remoteAddress of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2']) {
      const headers = { 'x-forwarded-for': String(Math.random()) };
      statuses.push((await app.inject({ method: 'POST', url: '/login', remoteAddress, headers })).statusCode);
    }
    expect(statuses).toEqual([200, 200, 429, 200]);
    await app.close();
  });

  it('by address counts calls that are refused for their token', async () => {
    const { app } = await createApp();
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      statuses.push(
        (await app.inject({ url: '/guess', headers: { authorization: `Bearer guess${count}` } })).statusCode,
      );
    }
    expect(statuses).toEqual([401, 401, 429]);
    await app.close();
  });

  it('leaves other routes without its headers', async () => {
    const { app } = await createApp();
    expect((await app.inject({ url: '/nothing' })).headers).not.toHaveProperty('x-ratelimit-limit');
    await app.close();
  });
});
