import { migrations } from '@svc/migrations';
import { describeDialects, fakeClock, waitFor, type FakeClock } from '@svc/testing';
import type { Kysely } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createNodeAdministration } from '../../src/assembly/node-module.ts';
import type { SandboxesConfig } from '../../src/config.ts';
import type { NodeAdministration } from '../../src/domain/nodes/node-administration.ts';
import type { SandboxNode } from '../../src/domain/nodes/sandbox-node.ts';
import { sandboxErrors } from '../../src/errors.ts';
import type { SandboxTables } from '../../src/store/tables.ts';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform, type TestPlatformOptions } from '../support/platform.ts';
import { TerminalClient } from '../support/terminal-client.ts';

describeDialects<unknown>('a drained node', migrations, (database) => {
  let driver: FakeDriver;
  let clock: FakeClock;
  let platform: TestPlatform;
  let nodes: NodeAdministration;

  beforeEach(() => {
    driver = new FakeDriver();
    clock = fakeClock();
    nodes = createNodeAdministration(database());
  });
  afterEach(async () => {
    await nodes.undrain('local');
    await platform.dispose();
    await driver.dispose();
  });

  const start = async (config: Partial<SandboxesConfig> = {}, more: TestPlatformOptions = {}) => {
    platform = await startPlatform({ driver, clock, database: database(), config, ...more });
    await waitFor(() => database().events.isListening);
  };
  const startWithoutNotice = () => start({ drain_notice_seconds: 0 });
  const create = (body: Record<string, unknown> = {}) =>
    platform.call('POST', '/api/sandboxes?wait_ms=10000', { body: { image: 'busybox', ...body } });
  const newSandbox = async (body: Record<string, unknown> = {}): Promise<string> => (await create(body)).body['id'];
  const read = async (id: string) => (await platform.call('GET', `/api/sandboxes/${id}`)).body;
  const eventTypes = async (id: string): Promise<string[]> => {
    const { body } = await platform.call('GET', `/api/sandboxes/${id}/events?format=json`);
    return body['events'].map(({ type }: { type: string }) => type);
  };
  const snapshots = async () => (await platform.call('GET', '/api/snapshots')).body;
  const node = async (id = 'local'): Promise<SandboxNode | undefined> =>
    (await nodes.list()).find((each) => each.node === id);
  /** Lets the notice end. */
  const backdate = async (): Promise<void> => {
    const kysely: Kysely<SandboxTables> = database().kysely;
    await kysely
      .updateTable('sandbox_node')
      .set({ drain_requested_at: '2020-01-01T00:00:00.000Z' })
      .where('drain_requested_at', 'is not', null)
      .execute();
    await clock.advance(5_000);
  };
  const takesSandboxes = async (): Promise<void> => {
    await expect.poll(async () => (await create()).status).toBe(201);
  };

  it('states its driver, its room and its sandboxes', async () => {
    await startWithoutNotice();
    await newSandbox({ resources: { cpu: 0.5, memory_mb: 64 } });
    const stopped = await newSandbox();
    await platform.call('POST', `/api/sandboxes/${stopped}/stop`);
    await platform.call('DELETE', `/api/sandboxes/${await newSandbox()}`);
    expect(await nodes.list()).toEqual([
      {
        node: 'local',
        driver: 'fake',
        maxRunning: 2000,
        room: null,
        running: 1,
        total: 2,
        toDrain: 1,
        unarchived: { pending: 0, failed: 0 },
        cpuMillis: 500,
        memoryMb: 64,
        reportedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        drainRequestedAt: null,
      },
    ]);
  });

  it('states the room of its machine if its sandboxes run there', async () => {
    Object.defineProperty(driver, 'parallelStarts', { value: undefined });
    await startWithoutNotice();
    const amount = expect.any(Number);
    const room = { cpus: amount, memoryBytes: amount, freeMemoryBytes: amount, freeDiskBytes: amount };
    expect(await node()).toMatchObject({ room });
  });

  it('refuses sandboxes, whether new, stopped or forked, with a code and a time', async () => {
    await startWithoutNotice();
    const id = await newSandbox();
    await nodes.drain('local');
    await expect.poll(() => read(id)).toMatchObject({ status: 'stopped', state_reason: 'NODE_DRAINED' });
    for (const path of ['', `/${id}/start`, `/${id}/fork`]) {
      const body = path === '' ? { body: { image: 'busybox' } } : {};
      const answer = await platform.call('POST', `/api/sandboxes${path}`, body);
      expect(answer, path).toMatchObject({
        status: 503,
        body: { code: 'NODE_DRAINING', details: { node: 'local' } },
      });
      expect(answer.headers.get('retry-after')).toBe('5');
    }
    expect(driver.kept.size).toBe(0); // the fork was refused before its copy
    expect((await platform.call('GET', '/api/sandboxes')).body['count']).toBe(1);
  });

  it('stops running, paused and starting sandboxes, and is drained then', async () => {
    await startWithoutNotice();
    const running = await newSandbox();
    const paused = await newSandbox();
    await platform.call('POST', `/api/sandboxes/${paused}/pause`);
    driver.beforeStart = (_spec, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const begun = await platform.call('POST', '/api/sandboxes?wait_ms=0', { body: { image: 'busybox' } });
    await nodes.drain('local');
    await expect
      .poll(() => node())
      .toMatchObject({ running: 0, total: 3, toDrain: 0, drainRequestedAt: expect.any(String) });
    for (const id of [running, paused, begun.body['id']]) {
      expect(await read(id)).toMatchObject({ status: 'stopped', state_reason: 'NODE_DRAINED', paused_at: null });
      expect(await driver.inspect(id)).toMatchObject({ running: false });
    }
  });

  it('gives sandboxes, their commands and their terminals notice first', async () => {
    await start({ drain_notice_seconds: 3600 });
    const id = await newSandbox();
    const response = await fetch(`${platform.url}/api/sandboxes/${id}/exec`, {
      method: 'POST',
      headers: { ...platform.owner.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ command: ['cat'], stream: true }),
    });
    let heard = '';
    const listening = (async () => {
      for await (const chunk of response.body ?? []) heard += Buffer.from(chunk).toString();
    })();
    await waitFor(() => heard.includes('event: started'));
    const { headers } = platform.owner;
    const terminal = await TerminalClient.open(platform.url, id, { headers, protocols: ['sandbox.v1'] });
    await terminal.shows(/"type":"ready"/);
    await nodes.drain('local');
    await waitFor(() => heard.includes('event: notice'));
    await terminal.shows(/{"type":"notice","code":"NODE_DRAINING","message":"[^"]+","stops_at":"[^"]+Z"}/);
    expect(heard).toMatch(/event: notice\ndata: {"code":"NODE_DRAINING","message":"[^"]+","stops_at":"[^"]+Z"}/);
    await clock.advance(5_000);
    await expect.poll(() => eventTypes(id)).toContain('draining');
    expect(await read(id)).toMatchObject({ status: 'running' });
    expect(await node()).toMatchObject({ toDrain: 1 });
    await backdate();
    await expect.poll(() => read(id)).toMatchObject({ status: 'stopped' });
    await listening;
    expect((await terminal.closed).code).toBe(4004);
    expect((await eventTypes(id)).filter((type) => type === 'draining')).toHaveLength(1);
  });

  it('takes a snapshot of the stopped sandbox if its owner chose that', async () => {
    await startWithoutNotice();
    const id = await newSandbox({ name: 'precious', on_drain: 'snapshot' });
    expect(await read(id)).toMatchObject({ on_drain: 'snapshot' });
    let wasRunning = true;
    driver.beforeSnapshot = async () => {
      wasRunning = (await driver.inspect(id)).running;
    };
    await newSandbox();
    await nodes.drain('local');
    await expect.poll(() => node()).toMatchObject({ toDrain: 0 });
    expect(wasRunning).toBe(false);
    expect(await snapshots()).toMatchObject({ count: 1, snapshots: [{ sandbox_id: id, name: 'precious' }] });
    expect(await read(id)).toMatchObject({ status: 'stopped', state_reason: 'NODE_DRAINED' });
  });

  it('tries a failed snapshot again, then leaves the sandbox stopped with its files and says so', async () => {
    await startWithoutNotice();
    const id = await newSandbox({ on_drain: 'snapshot' });
    let attempts = 0;
    driver.beforeSnapshot = () => {
      attempts += 1;
      return Promise.reject(sandboxErrors.HOST_DISK_FULL());
    };
    await nodes.drain('local');
    await waitFor(() => attempts === 1);
    expect(await node()).toMatchObject({ toDrain: 1 });
    const later = () => clock.advance(5_000).then(() => node());
    await expect.poll(later).toMatchObject({ toDrain: 0 });
    expect(attempts).toBe(3);
    expect(await read(id)).toMatchObject({ status: 'stopped', state_reason: 'NODE_DRAINED' });
    await clock.advance(50);
    await expect.poll(() => eventTypes(id)).toContain('snapshot_failed');
    expect(await snapshots()).toMatchObject({ count: 0 });
    expect(driver.sandboxes.has(id)).toBe(true);
  });

  it('is not drained before a sandbox whose stop failed has stopped', async () => {
    await startWithoutNotice();
    const id = await newSandbox();
    const stop = driver.stop.bind(driver);
    let failures = 0;
    driver.stop = () => {
      failures += 1;
      return Promise.reject(sandboxErrors.RUNTIME_FAILED({ details: { reason: 'busy' } }));
    };
    await nodes.drain('local');
    await waitFor(() => failures > 1);
    expect(await node()).toMatchObject({ toDrain: 1 });
    driver.stop = stop;
    await expect.poll(() => clock.advance(5_000).then(() => node())).toMatchObject({ toDrain: 0 });
    expect(await driver.inspect(id)).toMatchObject({ running: false });
    expect(await read(id)).toMatchObject({ status: 'stopped', state_reason: 'NODE_DRAINED' });
  });

  it('continues after a restart, at the step that was interrupted', async () => {
    await startWithoutNotice();
    const id = await newSandbox({ on_drain: 'snapshot' });
    driver.beforeSnapshot = () => Promise.reject(sandboxErrors.HOST_DISK_FULL());
    await nodes.drain('local');
    await expect.poll(() => read(id)).toMatchObject({ status: 'stopped', state_reason: 'NODE_DRAINING' });
    await platform.close();
    driver.beforeSnapshot = async () => undefined;
    await platform.reopen();
    expect((await create()).body).toMatchObject({ code: 'NODE_DRAINING' });
    await expect.poll(() => node()).toMatchObject({ toDrain: 0 });
    expect(await snapshots()).toMatchObject({ count: 1, snapshots: [{ sandbox_id: id }] });
  });

  it('takes sandboxes again after the end of the drain, and keeps what it stopped', async () => {
    await startWithoutNotice();
    const id = await newSandbox();
    await nodes.drain('local');
    await nodes.drain('local');
    await expect.poll(() => read(id)).toMatchObject({ status: 'stopped' });
    await nodes.undrain('local');
    await takesSandboxes();
    expect(await node()).toMatchObject({ drainRequestedAt: null });
    expect(await read(id)).toMatchObject({ status: 'stopped' });
    const started = await platform.call('POST', `/api/sandboxes/${id}/start?wait_ms=10000`);
    expect(started.body).toMatchObject({ status: 'running', state_reason: null });
  });

  it('is drained by any replica; the others take sandboxes', async () => {
    await startWithoutNotice();
    const id = await newSandbox();
    const otherDriver = new FakeDriver();
    const other = await startPlatform({
      driver: otherDriver,
      clock,
      database: database(),
      node: 'other',
      access: platform.access,
    });
    const { owner: caller } = platform;
    await nodes.drain('local');
    await expect.poll(() => read(id)).toMatchObject({ status: 'stopped' });
    const made = await other.call('POST', '/api/sandboxes?wait_ms=10000', { caller, body: { image: 'busybox' } });
    expect(made).toMatchObject({ status: 201, body: { status: 'running' } });
    expect(await node('other')).toMatchObject({ running: 1, total: 1, drainRequestedAt: null });
    await other.call('DELETE', `/api/sandboxes/${made.body['id']}`, { caller });
    await other.dispose();
    await otherDriver.dispose();
  });

  it('keeps no warm sandboxes', async () => {
    await start({ drain_notice_seconds: 0, warm_pool: [{ image: 'busybox', min: 1, max: 1 }] });
    await expect.poll(() => clock.advance(1_000).then(() => driver.sandboxes.size)).toBe(1);
    await nodes.drain('local');
    await expect.poll(() => clock.advance(1_000).then(() => driver.sandboxes.size)).toBe(0);
  });

  it('is refused if it is unknown', async () => {
    await startWithoutNotice();
    await expect(nodes.drain('nowhere')).rejects.toMatchObject({ code: 'NODE_NOT_FOUND', status: 404 });
    await expect(nodes.undrain('nowhere')).rejects.toMatchObject({ code: 'NODE_NOT_FOUND', status: 404 });
  });

  it('cannot promise a snapshot if its driver takes none', async () => {
    Object.defineProperty(driver, 'snapshots', { value: undefined });
    await startWithoutNotice();
    expect(await create({ on_drain: 'snapshot' })).toMatchObject({
      status: 501,
      body: { code: 'SNAPSHOTS_UNAVAILABLE', details: { field: 'on_drain' } },
    });
    expect(await create({ on_drain: 'move' })).toMatchObject({
      status: 501,
      body: { code: 'RESTORE_UNAVAILABLE', details: { field: 'on_drain' } },
    });
    expect(await create({ on_drain: 'later' })).toMatchObject({
      status: 400,
      body: { details: { field: 'on_drain' } },
    });
  });
});
