import { fakeAccess, fakeAudit } from '@svc/testing';
import { createLogger, createMetrics } from '@svc/telemetry';
import { describe, expect, it } from 'vitest';
import { createHttpApp } from './app.ts';
import { registerHealthRoutes, type ReadinessCheck } from './health.ts';

type Checks = Record<string, ReadinessCheck>;

async function get(url: string, checks: Checks = {}, checkTimeoutMs = 10_000, shared: Checks = {}) {
  const metrics = createMetrics();
  const log = createLogger({ level: 'silent', name: 'test' });
  const app = await createHttpApp({ log, metrics, access: fakeAccess(), audit: fakeAudit(), version: 'test' });
  const now = (): Date => new Date('2026-01-02T03:04:05.678Z');
  registerHealthRoutes(app, { checks, shared, now, checkTimeoutMs });
  const answer = await app.inject({ url });
  await app.close();
  return answer;
}

describe('health', () => {
  it('says that the process runs, whatever its parts do', async () => {
    const answer = await get('/healthz', { database: () => 'unreachable' });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({ status: 'ok', timestamp: '2026-01-02T03:04:05.678Z' });
  });

  it('is ready when every part is', async () => {
    const answer = await get('/readyz', { database: () => 'ok', store: async () => 'ok' });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ status: 'ready', checks: { database: 'ok', store: 'ok' } });
  });

  it('is 503 with a word for each part when one is not, fails or hangs', async () => {
    const checks = {
      away: () => 'unreachable',
      broken: () => {
        throw new Error('the password is hunter2');
      },
      fine: () => 'ok',
      hanging: () => new Promise<string>(() => undefined),
    };
    const answer = await get('/readyz', checks, 20);
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toEqual({
      status: 'not_ready',
      checks: { away: 'unreachable', broken: 'failed', fine: 'ok', hanging: 'timeout' },
      shared: {},
      timestamp: '2026-01-02T03:04:05.678Z',
    });
  });

  it('stays ready when only what all replicas share is away, and names it', async () => {
    const away = () => {
      throw new Error('the engine is stopped');
    };
    const answer = await get('/readyz', { own: () => 'ok' }, 10_000, { object_engine: away, database: () => 'ok' });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({
      status: 'ready',
      checks: { own: 'ok' },
      shared: { object_engine: 'failed', database: 'ok' },
    });
  });
});
