import { Agent, request as sendRequest } from 'node:http';
import { connect } from 'node:net';
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
  /** The end of the connection that has the large response. */
  let closed: PromiseWithResolvers<void>;

  beforeEach(async () => {
    waiting = [];
    closed = Promise.withResolvers();
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
    app.post('/large', { config: { public: true } }, async (request, reply) => {
      request.raw.socket.once('close', () => closed.resolve());
      return reply.send(Buffer.alloc(64 * 1024 * 1024));
    });
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

  it('is cut if the client does not read it, and so is a response behind it', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    const head = (path: string): string => `POST ${path} HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n`;
    socket.write(head('/late') + head('/large'));
    await expect.poll(() => waiting.length).toBe(1);
    waiting[0]?.();
    await closed.promise;
    socket.destroy();
  });
});
