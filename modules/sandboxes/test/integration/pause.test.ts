import { fakeClock, waitFor, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { TerminalClient } from '../support/terminal-client.ts';

describe('a paused sandbox', () => {
  let driver: FakeDriver;
  let clock: FakeClock;
  let platform: TestPlatform;

  beforeEach(async () => {
    driver = new FakeDriver();
    clock = fakeClock();
    platform = await startPlatform({ driver, clock });
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  const create = async (body: Record<string, unknown> = {}): Promise<string> =>
    (await platform.call('POST', '/api/containers', { body: { image: 'busybox', ...body } })).body['id'];
  const post = (id: string, verb: string, body?: unknown) =>
    platform.call('POST', `/api/containers/${id}/${verb}`, body === undefined ? {} : { body });
  const get = async (id: string) => (await platform.call('GET', `/api/containers/${id}`)).body;
  const isPaused = (id: string) => driver.sandboxes.get(id)?.paused;

  it('is running with the time of its pause; a repeated pause changes nothing', async () => {
    const id = await create();
    const paused = await post(id, 'pause');
    expect(paused).toMatchObject({ status: 200, body: { status: 'running', paused_at: '2026-01-01T00:00:00.000Z' } });
    await clock.advance(1000);
    expect((await post(id, 'pause')).body).toEqual(paused.body);
    expect(isPaused(id)).toBe(true);
    expect((await post(id, 'resume')).body).toMatchObject({ status: 'running', paused_at: null });
    expect((await post(id, 'resume')).body['paused_at']).toBeNull();
    expect(isPaused(id)).toBe(false);
    const { events } = (await platform.call('GET', `/api/containers/${id}/events?format=json`)).body;
    expect(events.map((event: { type: string }) => event.type)).toEqual(['resumed', 'paused', 'running', 'created']);
  });

  it('is refused by name if the driver cannot pause', async () => {
    const id = await create();
    driver.lacks.add('pause');
    expect(await post(id, 'pause')).toMatchObject({
      status: 501,
      body: { code: 'PAUSE_UNAVAILABLE', details: { driver: 'fake' } },
    });
    expect(await get(id)).toMatchObject({ status: 'running', paused_at: null });
    expect(isPaused(id)).toBe(false);
    expect(await platform.module.state('workspace')).toMatchObject({
      missing_capabilities: ['egress_allow', 'egress_rules', 'gpus', 'pause', 'templates'],
    });
  });

  it.each([
    ['a command', (id: string) => post(id, 'exec', { command: 'exit 3' })],
    ['a file', (id: string) => platform.call('GET', `/api/containers/${id}/files?path=/x`)],
    ['a list of terminals', (id: string) => platform.call('GET', `/api/containers/${id}/terminals`)],
    ['a start', (id: string) => post(id, 'start')],
    ['a terminal', (id: string) => TerminalClient.open(platform.url, id, { headers: platform.owner.headers })],
  ])('resumes for %s', async (_use, use) => {
    const id = await create();
    await post(id, 'pause');
    await use(id);
    await waitFor(async () => (await get(id))['paused_at'] === null);
    await waitFor(() => isPaused(id) === false);
  });

  it('is recorded as resumed before it resumes, because a crash may follow its first response', async () => {
    const id = await create();
    await post(id, 'pause');
    const seen: unknown[] = [];
    const resume = driver.resume.bind(driver);
    driver.resume = async (each) => {
      seen.push((await get(each))['paused_at']);
      await resume(each);
    };
    expect((await post(id, 'exec', { command: 'exit 0' })).status).toBe(200);
    expect(seen).toEqual([null]);
  });

  it('stays paused, on record as well, when the machine cannot resume it', async () => {
    const id = await create();
    const paused = (await post(id, 'pause')).body['paused_at'];
    const resume = driver.resume.bind(driver);
    driver.resume = () => Promise.reject(new Error('frozen hard'));
    expect((await post(id, 'resume')).status).toBe(500);
    expect((await get(id))['paused_at']).toBe(paused);
    driver.resume = resume;
    expect((await post(id, 'resume')).body['paused_at']).toBeNull();
  });

  it('resumes when a client types into an open terminal', async () => {
    const id = await create();
    const terminal = await TerminalClient.open(platform.url, id, { headers: platform.owner.headers });
    terminal.type('one');
    await terminal.shows(/one/);
    await post(id, 'pause');
    terminal.send(JSON.stringify({ type: 'resize', cols: 100, rows: 30 }));
    expect((await get(id))['paused_at']).not.toBeNull();
    terminal.type('two');
    await terminal.shows(/two/);
    await waitFor(async () => (await get(id))['paused_at'] === null);
    await terminal.close();
  });

  it('is not stopped for being idle, but is deleted when it expires', async () => {
    const idle = await create({ idle_timeout_seconds: 30 });
    const mortal = await create({ max_lifetime_seconds: 120 });
    for (const id of [idle, mortal]) await post(id, 'pause');
    await clock.advance(100_000);
    expect(await get(idle)).toMatchObject({ status: 'running', paused_at: '2026-01-01T00:00:00.000Z' });
    expect((await post(idle, 'resume')).body['last_activity_at']).toBe(clock.now().toISOString());
    await clock.advance(29_000);
    await waitFor(async () => (await platform.call('GET', `/api/containers/${mortal}`)).status === 404);
    expect((await get(idle))['status']).toBe('running');
    await clock.advance(6_000);
    await waitFor(async () => (await get(idle))['status'] === 'stopped');
  });

  it('stays paused across a platform restart and remains usable', async () => {
    const id = await create();
    await post(id, 'pause');
    await platform.close();
    await platform.reopen();
    expect(await get(id)).toMatchObject({ status: 'running', paused_at: '2026-01-01T00:00:00.000Z' });
    expect(isPaused(id)).toBe(true);
    expect((await post(id, 'exec', { command: 'exit 3' })).body['exit_code']).toBe(3);
    expect((await get(id))['paused_at']).toBeNull();
  });

  it('resumes after a restart that came between the freeze and its record', async () => {
    const id = await create();
    await platform.close();
    await driver.pause(id);
    await platform.reopen();
    expect((await get(id))['paused_at']).toBeNull();
    expect(isPaused(id)).toBe(false);
  });

  it.each(['stop', 'delete'])('accepts a %s', async (verb) => {
    const id = await create();
    await post(id, 'pause');
    if (verb === 'stop') expect((await post(id, 'stop')).body).toMatchObject({ status: 'stopped', paused_at: null });
    else expect((await platform.call('DELETE', `/api/containers/${id}`)).status).toBe(200);
  });

  it('requires a running sandbox', async () => {
    const id = await create();
    await post(id, 'stop');
    for (const verb of ['pause', 'resume']) {
      expect(await post(id, verb)).toMatchObject({ status: 409, body: { code: 'SANDBOX_NOT_RUNNING' } });
    }
  });

  it('reports the error when the machine cannot pause it, and keeps running', async () => {
    const id = await create();
    driver.pause = async () => {
      throw new Error('no freezer');
    };
    expect((await post(id, 'pause')).status).toBe(500);
    expect((await get(id))['paused_at']).toBeNull();
    expect((await post(id, 'exec', { command: 'exit 0' })).body['exit_code']).toBe(0);
  });
});
