import { createHmac } from 'node:crypto';
import {
  fakeClock,
  startWebhookReceiver,
  waitFor,
  type FakeCaller,
  type FakeClock,
  type WebhookReceiver,
} from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type Answer, type CallOptions, type TestPlatform } from '../support/platform.ts';

interface Event {
  id: number;
  sandbox_id: string | null;
  type: string;
}

const LOCAL = {
  allowed_networks: ['127.0.0.0/8'],
  timeout_seconds: 5,
  retry_seconds: 5,
  give_up_seconds: 300,
  disable_after_seconds: 900,
};
const parse = (body: string): Event => JSON.parse(body) as Event; // a test fails on any other

describe('webhooks of sandbox events', () => {
  let driver: FakeDriver;
  let clock: FakeClock;
  let platform: TestPlatform;
  let receiver: WebhookReceiver<Event>;

  beforeEach(async () => {
    driver = new FakeDriver();
    clock = fakeClock();
    receiver = await startWebhookReceiver(parse);
    const events = { kept_days: 1, kept_per_workspace: 100, max_streams: 2 };
    platform = await startPlatform({ driver, clock, config: { webhooks: LOCAL, events } });
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
    await receiver.close();
  });

  const call = (method: string, path: string, body?: object, more: CallOptions = {}): Promise<Answer> =>
    platform.call(method, `/api/webhooks${path}`, { ...(body && { body }), ...more });
  const subscribe = async (more: object = {}): Promise<{ id: string; secret: string }> => {
    const made = await call('POST', '', { url: receiver.url, ...more });
    expect(made.status).toBe(201);
    return made.body as { id: string; secret: string };
  };
  const create = async (name: string): Promise<string> =>
    (await platform.call('POST', '/api/sandboxes', { body: { image: 'busybox', name } })).body['id'];
  const remove = (id: string) => platform.call('DELETE', `/api/sandboxes/${id}`);
  /** Lets the clock run until the condition holds. */
  const until = (condition: () => boolean | Promise<boolean>, stepMs = 500) =>
    waitFor(async () => {
      await clock.advance(stepMs);
      return await condition();
    });
  const taken = () => receiver.taken.map(({ event }) => `${event.type} ${event.id}`);
  const deliveries = async (id: string) =>
    (await call('GET', `/${id}/deliveries`)).body['deliveries'] as Record<string, unknown>[];

  it('arrive signed, with the event as the API shows it, in order, and once', async () => {
    const { id, secret } = await subscribe();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const sandbox = await create('one');
    await remove(sandbox);
    await until(() => receiver.taken.length >= 3);
    expect(taken()).toEqual(['created 1', 'running 2', 'deleted 3']);
    const [first] = receiver.taken;
    const stored = await platform.call('GET', '/api/events?format=json');
    expect(first?.event).toEqual({ workspace_uuid: platform.owner.workspaceUuid, ...stored.body['events'][2] });
    const { 'webhook-id': messageId, 'webhook-timestamp': at, 'webhook-signature': signature } = first?.headers ?? {};
    expect(messageId).toBe(`${id}-1`);
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const expected = createHmac('sha256', key).update([messageId, at, first?.body].join('.')).digest('base64');
    expect(signature).toBe(`v1,${expected}`);
    await clock.advance(5_000);
    expect(receiver.received).toHaveLength(3);
    await until(async () => (await deliveries(id)).length === 3);
    expect((await deliveries(id))[0]).toMatchObject({
      event_id: 3,
      sandbox_id: sandbox,
      state: 'delivered',
      attempts: 1,
      status: 200,
    });
  });

  it('arrive only for the events that are wanted, while the webhook is enabled, and from its creation on', async () => {
    await create('before');
    const { id } = await subscribe({ events: ['deleted'] });
    const one = await create('one');
    await remove(one);
    await until(() => receiver.taken.length === 1);
    expect(receiver.taken[0]?.event).toMatchObject({ type: 'deleted', sandbox_id: one });
    await call('PATCH', `/${id}`, { enabled: false, events: null });
    await create('two');
    await clock.advance(5_000);
    expect((await call('PATCH', `/${id}`, { enabled: true })).body).toMatchObject({ enabled: true, events: null });
    const three = await create('three');
    await until(() => receiver.taken.length >= 3);
    expect(receiver.taken.slice(1).map(({ event }) => event.sandbox_id)).toEqual([three, three]);
  });

  it('are retried later while those of other sandboxes arrive, in order for each sandbox', async () => {
    const { id } = await subscribe();
    const bad = await create('bad');
    let isBack = false;
    receiver.answer = ({ event }) => (event.sandbox_id === bad && !isBack ? 503 : 200);
    await until(() => receiver.received.length > 0);
    const good = await create('good');
    await until(() => receiver.taken.length === 2);
    expect(receiver.taken.map(({ event }) => event.sandbox_id)).toEqual([good, good]);
    expect(receiver.received.filter(({ event }) => event.id === 2)).toHaveLength(0);
    expect((await deliveries(id)).at(-1)).toMatchObject({
      event_id: 1,
      state: 'retrying',
      status: 503,
      error: 'HTTP 503',
    });
    isBack = true;
    await until(() => receiver.taken.length === 4, 5_000);
    expect(receiver.taken.slice(2).map(({ event }) => event.id)).toEqual([1, 2]);
    expect((await call('GET', `/${id}`)).body).toMatchObject({ failing_since: null, last_error: null });
  });

  it('continue after a restart with those that were not delivered', async () => {
    await subscribe();
    receiver.answer = () => 500;
    await create('one');
    await until(() => receiver.received.length > 0);
    await platform.close();
    receiver.answer = () => 200;
    await platform.reopen();
    await until(() => receiver.taken.length === 2, 5_000);
    expect(taken()).toEqual(['created 1', 'running 2']);
  });

  it('drops events that got too old, and sends one of them again when asked', async () => {
    const { id } = await subscribe();
    receiver.answer = () => 500;
    await create('one');
    const isDropped = async () => (await deliveries(id)).filter(({ state }) => state === 'dropped').length === 2;
    await until(isDropped, 60_000);
    expect(await call('POST', `/${id}/deliveries/2/redeliver`)).toMatchObject({
      status: 200,
      body: { delivered: false, status: 500, error: 'HTTP 500' },
    });
    receiver.answer = () => 200;
    expect((await call('POST', `/${id}/deliveries/2/redeliver`)).body).toMatchObject({ delivered: true, status: 200 });
    expect(taken()).toEqual(['running 2']);
    expect((await deliveries(id))[0]).toMatchObject({ event_id: 2, state: 'delivered', error: null });
    for (const event of ['99', '0', 'x']) {
      const refused = await call('POST', `/${id}/deliveries/${event}/redeliver`);
      expect(refused).toMatchObject({ status: 404, body: { code: 'EVENT_NOT_FOUND' } });
    }
  });

  it('disable a webhook whose receiver failed for too long, with the reason', async () => {
    const { id } = await subscribe();
    receiver.answer = () => 500;
    for (let round = 0; round < 40; round += 1) {
      await create(`sandbox-${round}`);
      const before = receiver.received.length;
      await until(
        async () => receiver.received.length > before || !(await call('GET', `/${id}`)).body['enabled'],
        30_000,
      );
      if (!(await call('GET', `/${id}`)).body['enabled']) break;
    }
    const disabled = (await call('GET', `/${id}`)).body;
    expect(disabled).toMatchObject({ enabled: false, last_error: 'HTTP 500' });
    expect(disabled['disabled_reason']).toContain('every delivery failed since');
    const { length } = receiver.received;
    await clock.advance(120_000);
    expect(receiver.received).toHaveLength(length);
    expect((await call('PATCH', `/${id}`, { enabled: true })).body).toMatchObject({
      enabled: true,
      disabled_reason: null,
      failing_since: null,
    });
  });

  it('counts events that were removed from the log before they were delivered', async () => {
    const { id } = await subscribe();
    receiver.answer = () => 500;
    await create('one');
    await until(() => receiver.received.length > 0);
    for (let round = 0; round < 55; round += 1) await remove(await create(`sandbox-${round}`));
    await until(async () => Number((await call('GET', `/${id}`)).body['missed_events']) > 0, 60_000);
  });

  it('signs with both secrets for a day after a rotation', async () => {
    const { id, secret } = await subscribe();
    const rotated = await call('POST', `/${id}/secret`);
    expect(rotated).toMatchObject({ status: 200, body: { previous_valid_until: '2026-01-02T00:00:00.000Z' } });
    expect(rotated.body['secret']).not.toBe(secret);
    expect((await call('POST', `/${id}/test`)).body).toEqual({ delivered: true, status: 200, error: null });
    const test = receiver.taken[0];
    expect(test?.event).toMatchObject({ id: 0, sandbox_id: null, type: 'test' });
    const signed = (key: string): string =>
      `v1,${createHmac('sha256', Buffer.from(key.replace('whsec_', ''), 'base64'))
        .update([test?.headers['webhook-id'], test?.headers['webhook-timestamp'], test?.body].join('.'))
        .digest('base64')}`;
    expect(test?.headers['webhook-signature']).toBe(`${signed(rotated.body['secret'])} ${signed(secret)}`);
    await platform.close(); // otherwise its timers would run all day
    await clock.advance(24 * 3_600_000);
    await platform.reopen();
    await call('POST', `/${id}/test`);
    expect(String(receiver.taken.at(-1)?.headers['webhook-signature']).split(' ')).toHaveLength(1);
    const shown = JSON.stringify([
      (await call('GET', '')).body,
      (await call('GET', `/${id}`)).body,
      platform.audit.entries,
    ]);
    expect(shown).not.toContain('whsec_');
  });

  it('are tested and sent again only so often in a minute, by all of a workspace', async () => {
    const { id } = await subscribe({ enabled: false });
    const other = await subscribe({ enabled: false });
    await create('one');
    const attempts = ['/test', '/deliveries/1/redeliver'].flatMap((path) => [`/${id}${path}`, `/${other.id}${path}`]);
    for (let round = 0; round < 15; round += 1) {
      for (const path of attempts) expect((await call('POST', path)).status).toBe(200);
    }
    const sent = receiver.received.length;
    for (const path of attempts) {
      const refused = await call('POST', path);
      expect(refused).toMatchObject({
        status: 429,
        body: { code: 'RATE_LIMITED', details: { retry_after_seconds: 1 } },
      });
      expect(refused.headers.get('retry-after')).toBe('1');
    }
    expect(receiver.received).toHaveLength(sent);
    await clock.advance(1_000);
    expect((await call('POST', `/${id}/test`)).status).toBe(200);
  });

  it('refuse what is invalid, by field', async () => {
    for (const [body, field] of [
      [{ url: 'ftp://example.com' }, 'url'],
      [{ url: 'http://10.0.0.1/' }, 'url'],
      [{ url: 'https://user:secret@example.com/' }, 'url'],
      [{ url: receiver.url, events: ['exploded'] }, 'events'],
      [{ url: receiver.url, events: [] }, 'events'],
      [{ url: receiver.url, secret: 'mine' }, 'secret'],
      [{}, 'url'],
    ] as const) {
      const refused = await call('POST', '', body);
      expect(refused.status).toBe(400);
      expect(JSON.stringify(refused.body)).toContain(field);
    }
    const { id } = await subscribe();
    expect((await call('PATCH', `/${id}`, { url: 'http://169.254.169.254/' })).status).toBe(400);
    expect((await call('PATCH', `/${id}`, {})).status).toBe(400);
    expect((await call('GET', `/${id}/deliveries?cursor=x`)).status).toBe(400);
  });

  it('are for admins of their workspace only, and gone once deleted', async () => {
    const { id } = await subscribe();
    const { workspaceUuid } = platform.owner;
    const team = platform.access.team(workspaceUuid);
    const member = platform.access.user('member');
    const stranger = platform.access.user('stranger');
    platform.access.join(team, member, 'member');
    const scope = `?workspace_uuid=${workspaceUuid}&team_uuid=${team}`;
    const asked = (caller: FakeCaller, suffix = '') => [
      call('GET', suffix, undefined, { caller }),
      call('GET', `/${id}${suffix}`, undefined, { caller }),
      call('GET', `/${id}/deliveries${suffix}`, undefined, { caller }),
      call('PATCH', `/${id}${suffix}`, { enabled: false }, { caller }),
      call('POST', `/${id}/secret${suffix}`, undefined, { caller }),
      call('POST', `/${id}/test${suffix}`, undefined, { caller }),
      call('POST', `/${id}/deliveries/1/redeliver${suffix}`, undefined, { caller }),
      call('DELETE', `/${id}${suffix}`, undefined, { caller }),
    ];
    for (const answer of asked(member, scope)) expect((await answer).status).toBe(403);
    const [list, ...others] = asked(stranger);
    expect((await list)?.body).toMatchObject({ webhooks: [], count: 0 });
    for (const answer of others) expect((await answer).status).toBe(404);
    expect((await call('DELETE', `/${id}`)).body).toEqual({ id, deleted: true });
    for (const answer of asked(platform.owner).slice(1)) expect((await answer).status).toBe(404);
    await create('one');
    await clock.advance(5_000);
    expect(receiver.received).toHaveLength(0);
  });
});
