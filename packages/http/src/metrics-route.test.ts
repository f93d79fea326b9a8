import { fakeAccess, fakeAudit } from '@svc/testing';
import { createLogger, createMetrics } from '@svc/telemetry';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpApp } from './app.ts';
import type { HttpApp } from './http-app.ts';
import { createListener, type Listener } from './listener.ts';
import { createMetricsHandler, registerMetricsRoute } from './metrics-route.ts';

const TOKEN = 'a-token-of-the-scraper';
const metrics = createMetrics();
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('/metrics beside the API', () => {
  const access = fakeAccess();
  const apps: HttpApp[] = [];
  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
  });

  async function start(token?: string) {
    const log = createLogger({ level: 'silent', name: 'test' });
    const own = createMetrics();
    const app = await createHttpApp({ log, metrics: own, access, audit: fakeAudit(), version: 'test' });
    apps.push(app);
    registerMetricsRoute(app, { metrics: own, access, token });
    return (headers: Record<string, string>) => app.inject({ url: '/metrics', headers });
  }

  it('is for operators, in the text exposition format', async () => {
    const operator = access.user('operator');
    operator.principal.operator = true;
    const answer = await (await start())(operator.headers);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.body).toContain('# TYPE svc_http_request_duration_seconds histogram');
  });

  it('is for the scraper that shows the configured token', async () => {
    expect((await (await start(TOKEN))(bearer(TOKEN))).statusCode).toBe(200);
  });

  it.each([undefined, TOKEN])('is for nobody else (configured token: %s)', async (token) => {
    const ask = await start(token);
    const user = access.user('user');
    const machine = access.serviceAccount(user.workspaceUuid, ['admin']);
    const callers = [{}, bearer('undefined'), bearer(`${TOKEN}x`), user.headers, machine.headers];
    const statuses: number[] = [];
    for (const headers of callers) statuses.push((await ask(headers)).statusCode);
    expect(statuses).toEqual([401, 401, 401, 403, 403]);
  });
});

describe('/metrics on a listener of its own', () => {
  let listener: Listener;
  afterEach(() => listener.close(0));

  async function statuses(token?: string): Promise<Record<string, number>> {
    listener = createListener({ handler: createMetricsHandler({ metrics, token }) });
    const url = `http://127.0.0.1:${await listener.listen(0, '127.0.0.1')}`;
    const ask = async (path: string, init?: RequestInit) => (await fetch(`${url}${path}`, init)).status;
    return {
      open: await ask('/metrics'),
      token: await ask('/metrics?name=up', { headers: bearer(TOKEN) }),
      wrong: await ask('/metrics', { headers: bearer('wrong') }),
      other: await ask('/api/auth/me', { headers: bearer(TOKEN) }),
      post: await ask('/metrics', { method: 'POST', headers: bearer(TOKEN), body: 'x' }),
    };
  }

  it('answers whoever reaches it, and nothing else', async () => {
    expect(await statuses()).toEqual({ open: 200, token: 200, wrong: 200, other: 404, post: 405 });
  });

  it('asks for the token when one is configured', async () => {
    expect(await statuses(TOKEN)).toEqual({ open: 401, token: 200, wrong: 401, other: 404, post: 405 });
  });
});
