import { Agent, request as sendRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { createLogger, createMetrics } from '@svc/telemetry';
import { fakeAccess, fakeAudit } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpApp } from './app.ts';
import type { HttpApp } from './http-app.ts';
import { createListener, type Listener } from './listener.ts';

const IDLE_MS = 200;

describe('an answer that comes later than the idle time of its connection', () => {
  let app: HttpApp;
  let listener: Listener;
  let agent: Agent;
  let port: number;
  /** Answers of requests that wait. */
  let waiting: (() => void)[];

  beforeEach(async () => {
    waiting = [];
    app = await createHttpApp({
      log: createLogger({ level: 'silent', name: 'test' }),
      metrics: createMetrics(),
      access: fakeAccess(),
      audit: fakeAudit(),
      version: '0',
    });
    const wait = async (): Promise<string> => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return 'late';
    };
    app.post('/late', { config: { public: true, answersLate: true } }, wait);
    app.post('/usual', { config: { public: true } }, wait);
    await app.ready();
    listener = createListener({ handler: app.routing.bind(app), limits: { idleTimeoutMs: IDLE_MS } });
    port = await listener.listen(0, '127.0.0.1');
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
  });
  afterEach(async () => {
    for (const answer of waiting) answer();
    agent.destroy();
    await listener.close(0);
    await app.close();
  });

  /** Resolves with what arrives; empty if the connection is cut. */
  const post = (path: string, over?: Agent): Promise<string> =>
    new Promise((resolve) => {
      const options = { port, host: '127.0.0.1', method: 'POST', path, ...(over === undefined ? {} : { agent: over }) };
      const request = sendRequest(options, (response) => resolve(text(response)));
      request.once('error', () => resolve(''));
      request.end();
    });

  it('arrives if its route declares that, and the connection then has its usual limit again', async () => {
    const late = post('/late', agent);
    await expect.poll(() => waiting.length).toBe(1);
    expect(await post('/usual')).toBe(''); // was cut, although it began later
    waiting[0]?.();
    expect(await late).toBe('late');
    expect(await post('/usual', agent)).toBe('');
  });
});
