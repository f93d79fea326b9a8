import { fakeClock, waitFor, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform, type TestPlatformOptions } from '../support/platform.ts';
import { TerminalClient } from '../support/terminal-client.ts';

describe('sandbox limits', () => {
  let driver: FakeDriver;
  let clock: FakeClock;
  let platform: TestPlatform;

  const open = (options: TestPlatformOptions = {}) => startPlatform({ driver, clock, ...options });
  const restart = async (options: TestPlatformOptions): Promise<void> => {
    await platform.dispose();
    platform = await open(options);
  };
  const create = (body: Record<string, unknown> = {}, query = '') =>
    platform.call('POST', `/api/containers${query}`, { body: { image: 'busybox', ...body } });
  const readStatus = async (id: string): Promise<string> =>
    (await platform.call('GET', `/api/containers/${id}`)).body['status'];
  /** Makes starts wait until they are cancelled. */
  const hold = (): void => {
    driver.beforeStart = (_spec, signal) =>
      new Promise<void>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      );
  };

  beforeEach(async () => {
    driver = new FakeDriver();
    clock = fakeClock();
    platform = await open();
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  it('returns 503 with Retry-After when the node is full', async () => {
    await restart({ config: { max_running: 2 } });
    await create();
    const { id } = (await create()).body;
    const refused = await create();
    expect(refused).toMatchObject({ status: 503, body: { code: 'NO_CAPACITY' } });
    expect(refused.headers.get('retry-after')).toBe('10');
    await platform.call('POST', `/api/containers/${id}/stop`);
    expect((await create()).status).toBe(201);
    expect((await platform.call('POST', `/api/containers/${id}/start`)).status).toBe(503);
  });

  it('rate-limits creates and returns Retry-After', async () => {
    await restart({ config: { max_creates_per_minute: 2 } });
    await create();
    await create();
    const refused = await create();
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('remembers an Idempotency-Key across a restart', async () => {
    const headers = { 'idempotency-key': 'k-2' };
    const post = (name: string) =>
      platform.call('POST', '/api/containers', { body: { image: 'busybox', name }, headers });
    const { id } = (await post('once')).body;
    await platform.close();
    await platform.reopen();
    expect(await post('once')).toMatchObject({ status: 201, body: { id } });
    expect(await post('twice')).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
  });

  it('continues a start interrupted by a shutdown within its remaining time', async () => {
    const { id } = (await create()).body;
    await platform.call('POST', `/api/containers/${id}/stop`);
    await clock.advance(3_600_000);
    hold();
    await platform.call('POST', `/api/containers/${id}/start?wait_ms=0`);
    await clock.advance(60_000);
    await platform.close();
    await platform.reopen();
    expect(await readStatus(id)).toBe('creating');
    await clock.advance(40_000);
    await waitFor(async () => (await readStatus(id)) === 'error');
    expect((await platform.call('GET', `/api/containers/${id}`)).body['error']['code']).toBe('AGENT_TIMEOUT');
  });

  it('applies the start time limit to queued sandboxes too', async () => {
    await restart({ config: { max_per_caller: 40 } });
    hold();
    const ids: string[] = [];
    for (let count = 0; count < 20; count += 1) ids.push((await create({}, '?wait_ms=0')).body['id']);
    await clock.advance(100_000);
    for (const id of ids) await waitFor(async () => (await readStatus(id)) === 'error');
  });

  it('counts idle time from the end of the last activity', async () => {
    const { id } = (await create({ idle_timeout_seconds: 30 })).body;
    const terminal = await TerminalClient.open(platform.url, id, { headers: platform.owner.headers });
    await clock.advance(120_000);
    expect(await readStatus(id)).toBe('running');
    await terminal.close();
    await clock.advance(25_000);
    expect(await readStatus(id)).toBe('running');
    await clock.advance(20_000);
    await waitFor(async () => (await readStatus(id)) === 'stopped');
  });
});
