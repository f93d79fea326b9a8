import { fakeClock, waitFor, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sandboxErrors } from '../../src/errors.ts';
import { FakeHelper } from '../support/helper-double.ts';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform, type TestPlatformOptions } from '../support/platform.ts';
import { sampleSpec } from '../support/sample-spec.ts';

/** The fake driver runs nothing, so that tests can reach and hold every state. */
describe('sandbox lifecycle', () => {
  let driver: FakeDriver;
  let clock: FakeClock;
  let platform: TestPlatform;

  const restart = async (options: TestPlatformOptions = {}): Promise<void> => {
    await platform?.dispose();
    platform = await startPlatform({ driver, clock, ...options });
  };
  const create = (body: Record<string, unknown> = {}, query = '') =>
    platform.call('POST', `/api/containers${query}`, { body: { image: 'busybox', ...body } });
  const readStatus = async (id: string) => (await platform.call('GET', `/api/containers/${id}`)).body['status'];
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    driver.beforeStart = (_spec, signal) =>
      Promise.race([
        promise,
        new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
      ]);
    return resolve;
  };

  beforeEach(async () => {
    driver = new FakeDriver();
    clock = fakeClock();
    platform = await startPlatform({ driver, clock });
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  it('returns 201 with the whole sandbox, its Location and a permanent id', async () => {
    const created = await create({
      name: 'first',
      environment: { A: '1' },
      labels: { team: 'red' },
      resources: { cpu: 0.5, memory_mb: 64 },
      network: 'none',
      idle_timeout_seconds: 60,
      max_lifetime_seconds: 3600,
    });
    expect([created.status, created.headers.get('location')]).toEqual([201, `/api/containers/${created.body['id']}`]);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^sbx_[a-z2-7]{26}$/),
      name: 'first',
      image: 'busybox',
      snapshot_id: null,
      template_build_id: null,
      status: 'running',
      state_reason: null,
      error: null,
      created_at: '2026-01-01T00:00:00.000Z',
      started_at: '2026-01-01T00:00:00.000Z',
      paused_at: null,
      egress_allow: null,
      egress_deny: [],
      egress_rules: [],
      volumes: [],
      mounts: [],
      cluster: null,
      expires_at: '2026-01-01T01:00:00.000Z',
      on_expiry: 'delete',
      last_activity_at: '2026-01-01T00:00:00.000Z',
      labels: { team: 'red' },
      environment: { A: '1' },
      resources: { cpu: 0.5, memory_mb: 64, disk_mb: 2048, pids: 512 },
      driver: 'fake',
      isolation: 'namespaces',
      shares_kernel: true,
      network: 'none',
      on_drain: 'stop',
      on_node_lost: 'wait',
      image_progress: null,
    });
    expect((await platform.call('GET', `/api/sandboxes/${created.body['id']}`)).body).toEqual(created.body);
  });

  it('returns 202 while creating, and a long poll returns once it runs', async () => {
    const release = hold();
    const created = await create({}, '?wait_ms=0');
    expect(created).toMatchObject({ status: 202, body: { status: 'creating', started_at: null } });
    const polled = platform.call('GET', `/api/containers/${created.body['id']}?wait_for=running&timeout=30`);
    release();
    expect((await polled).body).toMatchObject({ id: created.body['id'], status: 'running' });
  });

  it('returns the current state when a long poll times out', async () => {
    hold();
    const { id } = (await create({}, '?wait_ms=0')).body;
    const before = clock.pendingTimers();
    const polled = platform.call('GET', `/api/containers/${id}?wait_for=running&timeout=5`);
    await waitFor(() => clock.pendingTimers() > before).then(() => clock.advance(5000));
    expect((await polled).body['status']).toBe('creating');
  });

  it('generates a name if none is given', async () => {
    expect((await create()).body['name']).toMatch(/^[a-z]+-[a-z]+-[a-z2-7]{6}$/);
  });

  it('refuses a taken name, and frees it on delete', async () => {
    const { id } = (await create({ name: 'one' })).body;
    expect(await create({ name: 'one' })).toMatchObject({ status: 409, body: { code: 'NAME_TAKEN' } });
    await platform.call('DELETE', `/api/containers/${id}`);
    expect((await create({ name: 'one' })).status).toBe(201);
  });

  it("enforces the caller's limit, even for concurrent creates", async () => {
    await restart({ config: { max_per_caller: 3 } });
    const statuses = (await Promise.all(Array.from({ length: 8 }, () => create()))).map((each) => each.status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(3);
    const refused = await create();
    expect(refused).toMatchObject({ status: 403, body: { code: 'QUOTA_EXCEEDED', details: { current: 3, limit: 3 } } });
    expect((await platform.call('GET', '/api/containers')).body).toMatchObject({ count: 3, limit: 3 });
  });

  it('returns the first sandbox for a repeated Idempotency-Key, and refuses the key for another request', async () => {
    const headers = { 'idempotency-key': 'k-1' };
    const body = { image: 'busybox', name: 'once' };
    const [first, second] = await Promise.all([
      platform.call('POST', '/api/containers', { body, headers }),
      platform.call('POST', '/api/containers', { body, headers }),
    ]);
    expect(first.body['id']).toBe(second.body['id']);
    expect((await platform.call('GET', '/api/containers')).body['count']).toBe(1);
    const other = await platform.call('POST', '/api/containers', { body: { ...body, name: 'other' }, headers });
    expect(other).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
  });

  it('refuses an unknown image and lists the known ones', async () => {
    expect(await create({ image: 'ubuntu:latest' })).toMatchObject({
      status: 400,
      body: {
        code: 'UNKNOWN_IMAGE',
        details: { field: 'image', supported_images: expect.arrayContaining(['debian', 'busybox', 'python-3']) },
      },
    });
  });

  it.each([
    [{ image: undefined }, 'image'],
    [{ name: '-x' }, 'name'],
    [{ name: 'a'.repeat(65) }, 'name'],
    [{ environment: { 'A=B': 'c' } }, 'environment.A=B'],
    [{ environment: { A: 1 } }, 'environment.A'],
    [{ environment: { A: 'b\u0000c' } }, 'environment.A'],
    [{ environment: { 'A\u0000': 'b' } }, 'environment.A\u0000'],
    [{ image: 'debian\u0000' }, 'image'],
    [{ labels: { ok: 'a\u0000' } }, 'labels.ok'],
    [{ labels: { ok: 'x'.repeat(300) } }, 'labels.ok'],
    [{ resources: { memory_mb: 999_999 } }, 'resources.memory_mb'],
    [{ resources: { pids: 1 } }, 'resources.pids'],
    [{ network: 'host' }, 'network'],
    [{ privileged: true }, 'privileged'],
    [{ max_lifetime_seconds: 0 }, 'max_lifetime_seconds'],
  ])('refuses %j and names the field', async (changes, field) => {
    const refused = await create(changes);
    expect(refused.status).toBe(400);
    expect(refused.body['details']['field']).toContain(field);
    expect(typeof refused.body['error']).toBe('string');
    expect((await platform.call('GET', '/api/containers')).body['count']).toBe(0);
  });

  it('fails with the cause when a start fails, and another start recovers it', async () => {
    driver.beforeCreate = async () => {
      throw sandboxErrors.IMAGE_PULL_FAILED({ details: { image: 'busybox', reason: 'no network' } });
    };
    const failed = await create();
    expect(failed.body).toMatchObject({
      status: 'error',
      state_reason: 'IMAGE_PULL_FAILED',
      error: { code: 'IMAGE_PULL_FAILED', message: expect.stringContaining('no network'), recoverable: true },
    });
    driver.beforeCreate = async () => undefined;
    const { id } = failed.body;
    expect((await platform.call('POST', `/api/containers/${id}/start`)).body).toMatchObject({
      status: 'running',
      error: null,
    });
  });

  it('does not stay in creating forever', async () => {
    hold();
    const { id } = (await create({}, '?wait_ms=0')).body;
    await clock.advance(100_000);
    await waitFor(async () => (await readStatus(id)) === 'error');
    expect((await platform.call('GET', `/api/containers/${id}`)).body['error']['code']).toBe('AGENT_TIMEOUT');
  });

  it.each([
    sandboxErrors.IMAGE_PULL_FAILED({ details: { image: 'busybox', reason: 'it is still being prepared' } }),
    sandboxErrors.NO_CAPACITY({ details: { reason: '0/3 nodes are available' } }),
  ])('names what was late as the cause when the time is over: $code', async (late) => {
    driver.beforeCreate = (_spec, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(late));
      });
    const { id } = (await create({}, '?wait_ms=0')).body;
    await clock.advance(100_000);
    await waitFor(async () => (await readStatus(id)) === 'error');
    const { error } = (await platform.call('GET', `/api/containers/${id}`)).body;
    expect(error).toMatchObject({ code: late.code, message: late.message });
  });

  it('starts and stops, idempotently', async () => {
    const { id } = (await create()).body;
    const call = async (verb: string) => (await platform.call('POST', `/api/containers/${id}/${verb}`)).body['status'];
    expect([await call('start'), await call('stop'), await call('stop')]).toEqual(['running', 'stopped', 'stopped']);
    expect([await call('start'), await call('start')]).toEqual(['running', 'running']);
  });

  it('accepts an empty body with a JSON content type, as clients send it', async () => {
    const { id } = (await create()).body;
    const headers = { 'content-type': 'application/json' };
    expect((await platform.call('POST', `/api/containers/${id}/stop`, { headers })).status).toBe(200);
    expect((await platform.call('DELETE', `/api/containers/${id}`, { headers })).status).toBe(200);
    expect((await platform.call('POST', '/api/containers', { headers })).status).toBe(400);
  });

  it('stops a sandbox that is still being created', async () => {
    hold();
    const { id } = (await create({}, '?wait_ms=0')).body;
    expect((await platform.call('POST', `/api/containers/${id}/stop`)).body['status']).toBe('stopped');
    expect((await driver.inspect(id)).running).toBe(false);
  });

  it.each(['creating', 'running', 'stopped', 'error'])(
    'deletes a sandbox that is %s and returns 404 from then on',
    async (state) => {
      if (state === 'creating') hold();
      if (state === 'error') {
        driver.beforeStart = async () => {
          throw sandboxErrors.RUNTIME_FAILED({ details: { reason: 'x' } });
        };
      }
      const { id } = (await create({}, state === 'creating' ? '?wait_ms=0' : '')).body;
      if (state === 'stopped') await platform.call('POST', `/api/containers/${id}/stop`);
      expect(await readStatus(id)).toBe(state);
      expect(await platform.call('DELETE', `/api/containers/${id}`)).toMatchObject({
        status: 200,
        body: { id, deleted: true, message: expect.any(String) },
      });
      for (const [method, path] of [
        ['GET', ''],
        ['POST', '/start'],
        ['POST', '/stop'],
        ['DELETE', ''],
      ] as const) {
        expect((await platform.call(method, `/api/containers/${id}${path}`)).status).toBe(404);
      }
      await waitFor(() => !driver.sandboxes.has(id));
    },
  );

  it.each([
    [false, 'INIT_CRASHED'],
    [true, 'OOM_KILLED'],
  ])('detects the exit of the first process (out of memory: %s) and reports %s', async (outOfMemory, code) => {
    const { id } = (await create()).body;
    await driver.crash(id, outOfMemory);
    await waitFor(async () => (await readStatus(id)) === 'error');
    expect((await platform.call('GET', `/api/containers/${id}`)).body).toMatchObject({ state_reason: code });
  });

  it('stops idle sandboxes and deletes expired ones', async () => {
    const idle = (await create({ idle_timeout_seconds: 30 })).body['id'];
    const mortal = (await create({ max_lifetime_seconds: 60 })).body['id'];
    await clock.advance(29_000);
    expect([await readStatus(idle), await readStatus(mortal)]).toEqual(['running', 'running']);
    // In steps, because the next sweep is due only some time after the end of the previous one.
    const passUntil = (condition: () => Promise<boolean>) =>
      waitFor(async () => {
        await clock.advance(1_000);
        return await condition();
      });
    await passUntil(async () => (await readStatus(idle)) === 'stopped');
    expect((await platform.call('GET', `/api/containers/${idle}`)).body['state_reason']).toBe('IDLE_TIMEOUT');
    await passUntil(async () => (await platform.call('GET', `/api/containers/${mortal}`)).status === 404);
  });

  it('lists by status, name and label, newest first, in pages', async () => {
    const ids: string[] = [];
    for (const index of [0, 1, 2, 3, 4]) {
      await clock.advance(1000);
      const labels = { parity: index % 2 === 0 ? 'even' : 'odd', all: 'yes' };
      ids.unshift((await create({ name: `n${index}`, labels })).body['id']);
    }
    await platform.call('POST', `/api/containers/${ids[0]}/stop`);
    const list = async (query: string) => (await platform.call('GET', `/api/containers${query}`)).body;
    const idsOf = (body: Record<string, { id: string }[]>) => body['containers']?.map((each) => each.id);
    expect(idsOf(await list(''))).toEqual(ids);
    expect(idsOf(await list('?status=stopped'))).toEqual([ids[0]]);
    expect(idsOf(await list('?name=n1'))).toEqual([ids[3]]);
    expect(idsOf(await list('?label.parity=odd&label.all=yes'))).toEqual([ids[1], ids[3]]);
    const first = await list('?page_size=2');
    const second = await list(`?page_size=2&cursor=${first['next_cursor']}`);
    const third = await list(`?page_size=2&cursor=${second['next_cursor']}`);
    expect([first, second, third].flatMap((page) => idsOf(page))).toEqual(ids);
    expect(third['next_cursor']).toBeNull();
    expect(await list('?cursor=abc')).toMatchObject({ status: 400, details: { field: 'cursor' } });
  });

  it('returns an empty list as an array', async () => {
    expect((await platform.call('GET', '/api/containers')).body).toEqual({
      containers: [],
      count: 0,
      limit: 20,
      next_cursor: null,
    });
  });

  it('returns the catalog', async () => {
    const { body } = await platform.call('GET', '/api/images');
    const popular = ['debian', 'node', 'python', 'agents', 'busybox'];
    expect(body).toMatchObject({
      count: 5,
      popular,
      categories: { os: ['debian', 'busybox'], language: ['node', 'python', 'agents'] },
    });
    expect(body['images'][0]).toMatchObject({
      name: 'debian',
      default: true,
      drivers: ['fake'],
      aliases: [],
      progress: null,
    });
    expect((await platform.call('GET', '/api/images?all=true')).body).toMatchObject({ count: 8, popular });
  });

  it('explains why sandboxes are off and how to turn them on', async () => {
    driver.setStatus({ available: false, reason: 'missing programs: crun', install: 'apt-get install -y crun' });
    expect(await create()).toMatchObject({
      status: 503,
      body: { code: 'SANDBOXES_UNAVAILABLE', details: { install: 'apt-get install -y crun' } },
    });
    expect(await platform.module.state('workspace')).toMatchObject({
      enabled: false,
      reason: 'missing programs: crun; install with: apt-get install -y crun',
      isolations: [],
    });
  });

  it('reconciles after a restart: adopts running sandboxes, repairs failed ones, removes unknown ones', async () => {
    const kept = (await create()).body['id'];
    const lost = (await create()).body['id'];
    const stopped = (await create()).body['id'];
    await platform.call('POST', `/api/containers/${stopped}/stop`);
    await platform.close();
    await driver.stop(lost);
    driver.sandboxes.set('sbx_orphan', { helper: null, outOfMemory: false, paused: false });
    await platform.reopen();
    expect([await readStatus(kept), await readStatus(lost), await readStatus(stopped)]).toEqual([
      'running',
      'error',
      'stopped',
    ]);
    expect((await platform.call('GET', `/api/containers/${lost}`)).body['state_reason']).toBe('NODE_LOST');
    expect(driver.sandboxes.has('sbx_orphan')).toBe(false);
  });

  it('continues a start interrupted by a shutdown', async () => {
    hold();
    const { id } = (await create({}, '?wait_ms=0')).body;
    await platform.close();
    driver.beforeStart = async () => undefined;
    await platform.reopen();
    await waitFor(async () => (await readStatus(id)) === 'running');
  });

  it('restarts a running sandbox recorded as creating, which may be a warm one with other limits', async () => {
    hold();
    const { id } = (await create({}, '?wait_ms=0')).body;
    await platform.close();
    driver.beforeStart = async () => undefined;
    await driver.start(sampleSpec('waiting', { id }), AbortSignal.timeout(30_000));
    const before = driver.sandboxes.get(id)?.helper;
    await platform.reopen();
    await waitFor(async () => (await readStatus(id)) === 'running');
    const after = driver.sandboxes.get(id)?.helper;
    expect(before).toBeInstanceOf(FakeHelper);
    expect(after).toBeInstanceOf(FakeHelper);
    expect(after).not.toBe(before);
  });

  it('leaves no timer behind', async () => {
    await create();
    await platform.close();
    expect(clock.pendingTimers()).toBe(0);
  });
});
