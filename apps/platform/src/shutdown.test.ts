import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { createListener } from '@svc/http';
import { createLogger } from '@svc/telemetry';
import { waitFor } from '@svc/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { Lifecycle } from './lifecycle.ts';
import { loadPlatformConfig } from './load-config.ts';
import { Shutdown, shutdownDeadlineMs, shutdownTimes } from './shutdown.ts';

const log = createLogger({ level: 'silent', name: 'test' });
const NO_WAIT = { lameDuckMs: 0, drainMs: 60_000, upgradedMs: 60_000 };
const agent = new Agent({ keepAlive: true });

afterEach(() => agent.destroy());

async function get(port: number): Promise<IncomingMessage> {
  const outgoing = httpRequest({ port, host: '127.0.0.1', agent });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]; // Node's event
  return response.resume();
}

/** A listener whose responses wait for the test. */
async function heldListener() {
  const waiting: ServerResponse[] = [];
  const listener = createListener({ handler: (_request, response) => void waiting.push(response) });
  return { listener, waiting, port: await listener.listen(0, '127.0.0.1') };
}

describe('a shutdown', () => {
  it('closes what a request uses only after the request has ended', async () => {
    const { listener, waiting, port } = await heldListener();
    const shutdown = new Shutdown(log, NO_WAIT);
    shutdown.add(listener, { upgrades: false });
    const lifecycle = new Lifecycle(log);
    const steps: string[] = [];
    lifecycle.own('database', () => void steps.push('database'));
    lifecycle.own('listeners', () => shutdown.drain(), shutdown.longestMs);
    shutdown.serving();
    const answer = get(port);
    const response = await waitFor(() => waiting[0]);
    const closed = lifecycle.close();
    await expect(get(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(shutdown.isDraining).toBe(true);
    steps.push('answer');
    response.end('done');
    expect((await answer).headers.connection).toBe('close');
    await closed;
    expect(steps).toEqual(['answer', 'database']);
  });

  it('first serves requests while readiness fails, and ends their connections', async () => {
    const { listener, waiting, port } = await heldListener();
    const waited = Promise.withResolvers<void>();
    const shutdown = new Shutdown(log, { ...NO_WAIT, lameDuckMs: 5_000 }, () => waited.promise);
    shutdown.add(listener, { upgrades: false });
    shutdown.serving();
    const drained = shutdown.drain();
    expect(shutdown.isDraining).toBe(true);
    const answer = get(port);
    (await waitFor(() => waiting[0])).end('served');
    expect(await answer).toMatchObject({ statusCode: 200, headers: { connection: 'close' } });
    waited.resolve();
    await drained;
    await expect(get(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('waits for a proxy only if there may be other replicas, and ends within the deadline', () => {
    const load = (environment: Record<string, string>) => loadPlatformConfig({ environment, flags: [] }).value;
    const alone = load({});
    expect(shutdownTimes(alone)).toEqual({ lameDuckMs: 0, drainMs: 3_000, upgradedMs: 4_000 });
    expect(shutdownDeadlineMs(alone)).toBe(9_500);
    const replica = load({ SVC_DATABASE_URL: 'postgres://127.0.0.1/svc' });
    expect(shutdownTimes(replica)).toMatchObject({ lameDuckMs: 5_000 });
    const chosen = load({ SVC_SHUTDOWN_LAME_DUCK_SECONDS: '2', SVC_SHUTDOWN_DRAIN_SECONDS: '30' });
    expect(shutdownTimes(chosen)).toEqual({ lameDuckMs: 2_000, drainMs: 30_000, upgradedMs: 31_000 });
    expect(shutdownDeadlineMs(chosen)).toBe(38_500);
  });
});
