import { createHmac } from 'node:crypto';
import {
  DeleteObjectCommand,
  GetBucketNotificationConfigurationCommand,
  PutBucketNotificationConfigurationCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startManagement, type RunningManagement } from '../support/running-management.ts';
import { catchRefusal, sdkClient } from '../support/s3-client.ts';
import { startReceiver, type ReceivedWebhook, type WebhookReceiver } from '../support/webhook-receiver.ts';

const LOCAL = {
  allowed_networks: ['127.0.0.0/8'],
  timeout_seconds: 5,
  retry_seconds: 5,
  give_up_seconds: 300,
  keep_failed_days: 1,
};
/** Clients sign with the system clock, so the fake clock starts at the current time. */
const STARTS_AT = new Date(Math.floor(Date.now() / 1_000) * 1_000).toISOString();
const EVERYTHING = ['s3:ObjectCreated:*', 's3:ObjectRemoved:*'];

describe('notifications of a bucket', () => {
  let management: RunningManagement;
  let receiver: WebhookReceiver;
  let client: S3Client;

  const start = async (notifications = LOCAL): Promise<void> => {
    management = await startManagement({ notifications }, STARTS_AT);
    const { store, owner } = management;
    await management.call('POST', '/buckets', { body: { name: 'photos' } });
    const key = await store.createKey({ workspaceUuid: owner.workspaceUuid });
    client = sdkClient(store, key);
  };
  beforeEach(async () => {
    receiver = await startReceiver();
    await start();
  });
  afterEach(async () => {
    client.destroy();
    await management.close();
    await receiver.close();
  });

  const setRules = (rules: object[]) => management.call('PUT', '/buckets/photos/notifications', { body: { rules } });
  const notifyAll = (more: object = {}) =>
    setRules([{ id: 'all', webhook: receiver.url, events: EVERYTHING, ...more }]);
  const put = (Key: string) => client.send(new PutObjectCommand({ Bucket: 'photos', Key, Body: Key }));
  const remove = (Key: string) => client.send(new DeleteObjectCommand({ Bucket: 'photos', Key }));
  const deliver = () => management.store.module.maintain();
  const notified = (webhooks: readonly ReceivedWebhook[] = receiver.taken) =>
    webhooks.map(({ event }) => `${event?.name} ${event?.key}`);
  const state = async () => (await management.call('GET', '/buckets/photos/notifications')).body.data;
  const secret = async () =>
    String((await management.call('GET', '/buckets/photos/notifications/secret')).body.data.secret);
  const signature = ({ headers, body }: ReceivedWebhook, key: string) =>
    createHmac('sha256', Buffer.from(key.replace('whsec_', ''), 'base64'))
      .update([headers['webhook-id'], headers['webhook-timestamp'], body].join('.'))
      .digest('base64');

  it('arrive in S3 format, signed, and in order per key', async () => {
    await notifyAll();
    await put('a b/ü.txt');
    await remove('a b/ü.txt');
    await put('a b/ü.txt');
    await deliver();
    const key = 'a+b/%C3%BC.txt';
    expect(notified()).toEqual([`ObjectCreated:Put ${key}`, `ObjectRemoved:Delete ${key}`, `ObjectCreated:Put ${key}`]);
    const [one = '', two = '', three = ''] = receiver.taken.map(({ event }) => event?.sequencer);
    expect(one < two && two < three).toBe(true);
    const [first] = receiver.taken;
    expect(first?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-timestamp': String(Date.parse(STARTS_AT) / 1_000),
      'webhook-signature': first === undefined ? '' : `v1,${signature(first, await secret())}`,
    });
    const { Records } = JSON.parse(first?.body ?? '{}') as { Records: object[] }; // checked below
    expect(Records[0]).toMatchObject({
      eventVersion: '2.3',
      eventTime: STARTS_AT,
      requestParameters: { sourceIPAddress: expect.stringContaining('127.0.0.1') },
      s3: {
        configurationId: 'all',
        bucket: { name: 'photos', arn: 'arn:aws:s3:::photos' },
        object: { key, size: 10, eTag: expect.stringMatching(/^[0-9a-f]{32}$/) },
      },
    });
    await deliver();
    expect(receiver.received).toHaveLength(3);
  });

  it('arrive only for the events, prefix and suffix of an enabled rule', async () => {
    await notifyAll({ events: ['s3:ObjectRemoved:*'], prefix: 'in/', suffix: '.jpg' });
    for (const key of ['in/a.jpg', 'in/b.png', 'out/c.jpg']) {
      await put(key);
      await remove(key);
    }
    await deliver();
    expect(notified()).toEqual(['ObjectRemoved:Delete in/a.jpg']);
    await notifyAll({ enabled: false });
    await put('in/a.jpg');
    await deliver();
    expect(receiver.received).toHaveLength(1);
  });

  it('are retried under the same ID; later ones of the same key wait, other keys do not', async () => {
    await notifyAll();
    receiver.answer = ({ event }) => (event?.key === 'stuck' ? 500 : 200);
    await put('stuck');
    await deliver();
    await put('stuck');
    await put('free');
    await management.clock.advance(1_500);
    await deliver();
    expect(notified()).toEqual(['ObjectCreated:Put free']);
    expect(await state()).toMatchObject({
      delivery: { waiting: 2, failed: 0, last_error: 'The webhook was not delivered: HTTP 500' },
    });
    receiver.answer = () => 200;
    await management.clock.advance(10_000);
    await deliver();
    expect(notified()).toEqual(['ObjectCreated:Put free', 'ObjectCreated:Put stuck', 'ObjectCreated:Put stuck']);
    const [tried, , again] = receiver.received;
    expect(again?.headers['webhook-id']).toBe(tried?.headers['webhook-id']);
    expect(again?.body).toBe(tried?.body);
    expect(await state()).toMatchObject({ delivery: { waiting: 0, last_error: null, next_attempt_at: null } });
  });

  it('fail after the retry period, stay visible, and can be redelivered', async () => {
    await notifyAll();
    receiver.answer = () => 302; // redirects are not followed
    await put('a');
    await deliver();
    await management.clock.advance(400_000);
    await deliver();
    expect(receiver.received).toHaveLength(2);
    expect(await state()).toMatchObject({
      delivery: { waiting: 0, failed: 1 },
      failed: [
        { rule: 'all', event: 'ObjectCreated:Put', key: 'a', attempts: 2, error: expect.stringContaining('302') },
      ],
    });
    receiver.answer = () => 200;
    const again = await management.call('POST', '/buckets/photos/notifications/redeliver', { body: {} });
    expect(again.body.data).toEqual({ count: 1 });
    await management.clock.advance(60_000);
    await deliver();
    expect(notified()).toEqual(['ObjectCreated:Put a']);
    expect(await state()).toMatchObject({ delivery: { waiting: 0, failed: 0 }, failed: [] });
  });

  it('are signed with both secrets for a day after a rotation', async () => {
    await notifyAll();
    const before = await secret();
    const changed = await management.call('POST', '/buckets/photos/notifications/secret');
    expect(changed.body.data.previous_valid_until).toBe(new Date(Date.parse(STARTS_AT) + 86_400_000).toISOString());
    const after = await secret();
    expect(after).not.toBe(before);
    await put('a');
    await deliver();
    const [first] = receiver.taken;
    if (first === undefined) throw new Error('nothing came');
    expect(first.headers['webhook-signature']).toBe(`v1,${signature(first, after)} v1,${signature(first, before)}`);
  });

  it('name in the audit log who read the secret they are signed with', async () => {
    await notifyAll();
    const before = management.audit.entries.length;
    await secret();
    expect(management.audit.entries.slice(before)).toMatchObject([
      { action: 'bucket:update', resource: 'bucket/photos', outcome: 'success', status: 200 },
    ]);
  });

  it('are not sent to private addresses unless the operator allows it', async () => {
    client.destroy();
    await management.close();
    await start({ ...LOCAL, allowed_networks: [] });
    for (const webhook of [
      'http://127.0.0.1/x',
      'http://[::1]/x',
      'http://169.254.169.254/',
      'http://0x7f.1/',
      'http://[::ffff:10.0.0.1]/',
    ]) {
      expect(await notifyAll({ webhook })).toMatchObject({ status: 400, body: { data: { code: 'InvalidArgument' } } });
    }
    const named = receiver.url.replace('127.0.0.1', 'localhost');
    expect(await notifyAll({ webhook: named })).toMatchObject({ status: 200 });
    await put('a');
    await deliver();
    expect(receiver.received).toEqual([]);
    expect(await state()).toMatchObject({
      delivery: { waiting: 1, last_error: expect.stringContaining('not public') },
    });
  });

  it('cover the management API and lifecycle rules, and name the principal', async () => {
    await notifyAll({ events: [...EVERYTHING, 's3:LifecycleExpiration:*'] });
    for (const key of ['kept', 'old']) {
      await management.call('PUT', `/buckets/photos/objects/content?key=${key}`, { body: Buffer.from('x') });
    }
    await management.call('DELETE', '/buckets/photos/objects?key=kept');
    const rules = [{ id: 'soon', enabled: true, filter: { prefix: '' }, expiration: { days: 1 } }];
    await management.call('PUT', '/buckets/photos/lifecycle', { body: { rules } });
    await deliver();
    await management.clock.advance(3 * 86_400_000);
    await deliver();
    await deliver();
    const principals = receiver.taken.map(({ body }) => /"principalId":"([^"]*)"/.exec(body)?.[1]);
    const owner = management.owner.principal.id;
    expect(receiver.taken).toHaveLength(4);
    expect(Object.fromEntries(notified().map((event, index) => [event, principals[index]]))).toEqual({
      'ObjectCreated:Put kept': owner,
      'ObjectRemoved:Delete kept': owner,
      'ObjectCreated:Put old': owner,
      'LifecycleExpiration:Delete old': '',
    });
  });

  it('can be tested, and the response reports the outcome', async () => {
    await notifyAll();
    const test = async () => (await management.call('POST', '/buckets/photos/notifications/test', { body: {} })).body;
    expect((await test()).data).toEqual({ delivered: true, error: null });
    expect(JSON.parse(receiver.taken[0]?.body ?? '{}')).toMatchObject({ Event: 's3:TestEvent', Bucket: 'photos' });
    receiver.answer = () => 404;
    expect((await test()).data).toEqual({ delivered: false, error: 'The webhook was not delivered: HTTP 404' });
  });

  it('can be configured over S3, and the settings show the same rules', async () => {
    const QueueArn = `arn:svc:webhook:::${receiver.url}`;
    const Filter = { Key: { FilterRules: [{ Name: 'prefix' as const, Value: 'in/' }] } };
    const configure = (QueueConfigurations: object[]) =>
      client.send(
        new PutBucketNotificationConfigurationCommand({
          Bucket: 'photos',
          NotificationConfiguration: { QueueConfigurations: QueueConfigurations as [] }, // including invalid ones
        }),
      );
    await configure([{ Id: 'one', QueueArn, Events: ['s3:ObjectCreated:*'], Filter }]);
    const read = await client.send(new GetBucketNotificationConfigurationCommand({ Bucket: 'photos' }));
    expect(read.QueueConfigurations).toEqual([
      {
        Id: 'one',
        QueueArn,
        Events: ['s3:ObjectCreated:*'],
        Filter: { Key: { FilterRules: [{ Name: 'prefix', Value: 'in/' }] } },
      },
    ]);
    const settings = await management.call('GET', '/buckets/photos/settings');
    expect(settings.body.data.notifications).toMatchObject({ id: 'one', webhook: receiver.url, prefix: 'in/' });
    await put('in/a');
    await deliver();
    expect(notified()).toEqual(['ObjectCreated:Put in/a']);
    const wrong = { code: 'InvalidArgument', status: 400 };
    expect(await catchRefusal(configure([{ QueueArn, Events: ['s3:Nothing:*'] }]))).toEqual(wrong);
    const elsewhere = { QueueArn: 'arn:aws:sqs:us-east-1:1:q', Events: ['s3:ObjectCreated:*'] };
    expect(await catchRefusal(configure([elsewhere]))).toEqual(wrong);
    await configure([]);
    expect(await state()).toMatchObject({ rules: [] });
  });

  it('are open only to callers who may read or configure the bucket', async () => {
    const { access } = management;
    const stranger = access.user('stranger');
    const member = access.user('member');
    const team = access.team(management.tenantId);
    access.join(team, member, 'member');
    const body = { rules: [] };
    for (const [method, path, sent] of [
      ['GET', '', undefined],
      ['PUT', '', body],
      ['GET', '/secret', undefined],
      ['POST', '/secret', undefined],
      ['POST', '/test', {}],
      ['POST', '/redeliver', {}],
    ] as const) {
      const url = `/buckets/photos/notifications${path}`;
      const status = async (options: object) =>
        (await management.call(method, url, { ...(sent === undefined ? {} : { body: sent }), ...options })).status;
      expect(await status({ as: null })).toBe(401);
      expect(await status({ as: null, headers: { authorization: 'Bearer wrong' } })).toBe(401);
      expect(await status({ as: stranger })).toBe(404);
      expect(await status({ as: stranger, workspace: stranger.workspaceUuid })).toBe(404);
      const asMember = await management.call(method, `${url}?team_uuid=${team}`, {
        as: member,
        ...(sent === undefined ? {} : { body: sent }),
      });
      expect(asMember.status).toBe(method === 'GET' && path === '' ? 200 : 403);
    }
  });
});
