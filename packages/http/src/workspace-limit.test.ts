import { createWorkspaceTraffic, unlimitedQuotas, type QuotaLimits } from '@svc/quotas';
import { createLogger, createMetrics } from '@svc/telemetry';
import { fakeAccess, fakeAudit, fakeClock } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { createHttpApp } from './app.ts';

describe('the rate of a workspace', () => {
  it('is one for all of its principals, and not touched by other workspaces', async () => {
    const clock = fakeClock();
    const metrics = createMetrics();
    const limits: QuotaLimits = {
      ...unlimitedQuotas,
      readLimits: async (workspaceUuid) => ({
        ...(await unlimitedQuotas.readLimits(workspaceUuid)),
        workspace: { requests_per_second: 2 },
      }),
    };
    const traffic = createWorkspaceTraffic({ limits, metrics, nowMs: clock.nowMs });
    const access = fakeAccess();
    const log = createLogger({ level: 'silent', name: 'test' });
    const app = await createHttpApp({ log, metrics, access, audit: fakeAudit(), version: 'test', traffic });
    app.get('/things', { config: { action: 'thing:read' } }, async () => ({}));
    const owner = access.user('owner');
    const accounts = [1, 2].map(() => access.serviceAccount(owner.workspaceUuid, ['read', 'write', 'admin']));
    const get = ({ headers }: { headers: { authorization: string } }) => app.inject({ url: '/things', headers });
    const answers = [];
    for (const caller of [owner, ...accounts]) answers.push(await get(caller));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 429]);
    expect(answers[2]?.headers['retry-after']).toBe('1');
    expect(answers[2]?.json()).toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      details: { quota: 'requests_per_second', scope: 'workspace', limit: 2, retry_after_seconds: 1 },
    });
    expect((await get(access.user('other'))).statusCode).toBe(200);
    await clock.advance(500);
    expect((await get(owner)).statusCode).toBe(200);
    await app.close();
  });
});
