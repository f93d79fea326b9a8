import { fakeClock, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

describe('the expiry of a sandbox', () => {
  const driver = new FakeDriver();
  const clock = fakeClock();
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startPlatform({ driver, clock });
  });
  afterAll(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  it('is changed within the limits of the caller', async () => {
    const body = { image: 'busybox', max_lifetime_seconds: 60 };
    const { id } = (await platform.call('POST', '/api/containers', { body })).body;
    const change = (seconds: unknown, caller = platform.owner) =>
      platform.call('PATCH', `/api/containers/${id}`, { caller, body: { expires_in_seconds: seconds } });
    const inSeconds = (seconds: number) => new Date(clock.nowMs() + seconds * 1000).toISOString();
    expect((await change(3600)).body).toMatchObject({ id, expires_at: inSeconds(3600) });
    expect((await change(null)).body).toMatchObject({ expires_at: null });
    expect((await change(0)).status).toBe(400);
    expect((await change('60')).status).toBe(400);
    const { access, owner } = platform;
    expect((await change(60, access.user('stranger'))).status).toBe(404);
    expect((await change(60, access.serviceAccount(owner.workspaceUuid, ['read']))).status).toBe(403);
    const guest = access.guest();
    const own = (await platform.call('POST', '/api/containers', { caller: guest, body: { image: 'busybox' } })).body[
      'id'
    ];
    const extended = (seconds: number | null) =>
      platform.call('PATCH', `/api/containers/${own}`, { caller: guest, body: { expires_in_seconds: seconds } });
    expect((await extended(31_536_000)).body).toMatchObject({ expires_at: inSeconds(900) });
    expect((await extended(null)).status).toBe(400);
    await platform.call('DELETE', `/api/containers/${own}`, { caller: guest });
    await platform.call('DELETE', `/api/containers/${id}`);
  });

  it('is kept by a change of labels, which replaces all of them', async () => {
    const body = { image: 'busybox', max_lifetime_seconds: 60, labels: { team: 'web', stage: 'test' } };
    const { id, expires_at: expiresAt } = (await platform.call('POST', '/api/containers', { body })).body;
    const change = (wanted: object, caller = platform.owner) =>
      platform.call('PATCH', `/api/containers/${id}`, { caller, body: wanted });
    const found = async (label: string) => (await platform.call('GET', `/api/containers?label.${label}`)).body['count'];
    expect((await change({ labels: { team: 'api' } })).body).toMatchObject({
      labels: { team: 'api' },
      expires_at: expiresAt,
    });
    expect([await found('team=api'), await found('team=web'), await found('stage=test')]).toEqual([1, 0, 0]);
    const both = await change({ labels: {}, expires_in_seconds: null });
    expect(both.body).toMatchObject({ labels: {}, expires_at: null });
    expect(await found('team=api')).toBe(0);
    expect((await change({})).status).toBe(400);
    expect((await change({ labels: { 'no space': 'x' } })).status).toBe(400);
    expect((await change({ labels: null })).status).toBe(400);
    const { access, owner } = platform;
    expect((await change({ labels: {} }, access.user('stranger'))).status).toBe(404);
    expect((await change({ labels: {} }, access.serviceAccount(owner.workspaceUuid, ['read']))).status).toBe(403);
    await platform.call('DELETE', `/api/containers/${id}`);
  });

  it.each([
    ['pause', { status: 'running', paused_at: expect.any(String) }],
    ['stop', { status: 'stopped', paused_at: null, state_reason: 'EXPIRED' }],
  ])('keeps the sandbox if it is to %s', async (action, expected) => {
    const body = { image: 'busybox', max_lifetime_seconds: 60, on_expiry: action };
    const created = await platform.call('POST', '/api/containers?wait_ms=10000', { body });
    expect(created.body).toMatchObject({ status: 'running', on_expiry: action, expires_at: expect.any(String) });
    const path = `/api/containers/${created.body['id']}`;
    const read = async () => (await platform.call('GET', path)).body;
    await waitFor(async () => {
      await clock.advance(10_000);
      return (await read())['expires_at'] === null;
    });
    expect(await read()).toMatchObject(expected);
    expect((await platform.call('POST', `${path}/start`)).body).toMatchObject({ status: 'running', paused_at: null });
    await platform.call('DELETE', path);
  });

  it('of a guest deletes it, whatever was asked for', async () => {
    const body = { image: 'busybox', on_expiry: 'pause' };
    const caller = platform.access.guest();
    const created = await platform.call('POST', '/api/containers', { caller, body });
    expect(created.body).toMatchObject({ on_expiry: 'delete' });
    await platform.call('DELETE', `/api/containers/${created.body['id']}`, { caller });
    expect((await platform.call('POST', '/api/containers', { body: { ...body, on_expiry: 'other' } })).status).toBe(
      400,
    );
  });
});

describe('a sandbox of an E2B client that is to stop at its timeout', () => {
  it('is restarted for clients that connect before the sweep has stopped it, once', async () => {
    const driver = new FakeDriver();
    const clock = fakeClock();
    const platform = await startPlatform({ driver, clock });
    const body = { templateID: 'busybox', timeout: 1, autoPause: true, autoPauseMemory: false };
    const id = String((await platform.call('POST', '/e2b/sandboxes', { body })).body['sandboxID']);
    const read = async () => (await platform.call('GET', `/api/sandboxes/sbx_${id}`)).body;
    const before = await read();
    await clock.advance(1_001); // the first sweep is later
    expect(await read()).toMatchObject({ status: 'running', expires_at: before['expires_at'] });
    const connect = () => platform.call('POST', `/e2b/sandboxes/${id}/connect`, { body: { timeout: 60 } });
    const answers = await Promise.all([connect(), connect()]);
    expect(answers.map(({ status }) => status).filter((status) => status > 201)).toEqual([]);
    const after = await read();
    const expiresAt = new Date(clock.nowMs() + 60_000).toISOString();
    expect(after).toMatchObject({ status: 'running', expires_at: expiresAt });
    expect(Date.parse(after['started_at'])).toBeGreaterThan(Date.parse(before['started_at']));
    await clock.advance(30_000);
    expect(await read()).toMatchObject({ status: 'running', expires_at: expiresAt, started_at: after['started_at'] });
    await platform.dispose();
    await driver.dispose();
  });
});
