import { createSecretKey, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalKeyWrapper } from '@svc/keys';
import { migrations } from '@svc/migrations';
import type { Database } from '@svc/sql';
import { sqliteSource, type FakeCaller } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { secretContext } from '../../src/domain/secrets/secret.ts';
import { webhookContext } from '../../src/domain/webhooks/webhook.ts';
import { rewrapSandboxSecrets } from '../../src/store/rewrap-sealed.ts';
import { createSecretRepository } from '../../src/store/secret-repository.ts';
import { createWebhookRepository } from '../../src/store/webhook-repository.ts';
import type { SandboxTables } from '../../src/store/tables.ts';
import { FakeDriver } from '../support/fake-driver.ts';
import { InjectingDriver } from '../support/injecting-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const VALUE = 'sk-very-secret-0815';

describe('secrets', () => {
  const driver = new InjectingDriver();
  let platform: TestPlatform;
  let stranger: FakeCaller;
  const put = (name: string, value: string) => platform.call('PUT', `/api/secrets/${name}`, { body: { value } });
  const post = (name: string, value: string, caller?: FakeCaller) =>
    platform.call('POST', '/api/secrets', { body: { name, value }, ...(caller && { caller }) });
  const rules = (secret = 'KEY') => [{ host: 'api.example.com', header: 'X-Key', secret }];

  beforeAll(async () => {
    platform = await startPlatform({ driver });
    stranger = platform.access.user('stranger@example.org');
  });
  afterAll(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  it('are created, listed, replaced and deleted; values never come back or appear in the audit log', async () => {
    const made = await post('KEY', VALUE);
    expect(made).toMatchObject({ status: 201, body: { name: 'KEY', version: 1 } });
    expect(await post('KEY', 'x')).toMatchObject({ status: 409, body: { code: 'SECRET_EXISTS' } });
    expect(await put('KEY', `${VALUE}-2`)).toMatchObject({ status: 200, body: { version: 2 } });
    await post('A.first', 'v');
    const listed = await platform.call('GET', '/api/secrets');
    expect(listed.body).toMatchObject({ secrets: [{ name: 'A.first' }, { name: 'KEY', version: 2 }], count: 2 });
    expect((await platform.call('GET', '/api/secrets/KEY')).body).toMatchObject({ name: 'KEY', version: 2 });
    expect((await platform.call('DELETE', '/api/secrets/A.first')).body).toEqual({ name: 'A.first', deleted: true });
    for (const method of ['GET', 'DELETE']) {
      expect(await platform.call(method, '/api/secrets/A.first')).toMatchObject({
        status: 404,
        body: { code: 'SECRET_NOT_FOUND' },
      });
    }
    expect((await put('A.first', 'v')).status).toBe(404);
    expect(JSON.stringify([made.body, listed.body, platform.audit.entries])).not.toContain(VALUE);
    expect(platform.audit.entries.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['secret:create', 'secret:update', 'secret:delete']),
    );
    expect(readFileSync(join(platform.folder, 'svc.db-wal'), 'latin1')).not.toContain(VALUE);
  });

  it.each([
    ['a line break', 'a\nb'],
    ['nothing', ''],
    ['more than 8 KiB', 'x'.repeat(8193)],
    ['other characters', 'ü-secret'],
  ])('refuse a value with %s, without repeating it', async (_name, value) => {
    const answer = await post('OTHER', value);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain('value');
    if (value.length > 1) expect(JSON.stringify(answer.body)).not.toContain(value.slice(0, 20));
    expect((await post('9 lives', 'v')).status).toBe(400);
  });

  it('are hidden from callers without access, and refused to those who may only read', async () => {
    const { workspaceUuid } = platform.owner;
    const team = platform.access.team(workspaceUuid);
    const member = platform.access.user('member');
    const guest = platform.access.user('guest');
    platform.access.join(team, member, 'member');
    platform.access.join(team, guest, 'guest');
    const reader = platform.access.serviceAccount(workspaceUuid, ['read']);
    const inTeam = `?workspace_uuid=${workspaceUuid}&team_uuid=${team}`;
    const all = [
      ['GET', '/api/secrets', undefined],
      ['GET', '/api/secrets/KEY', undefined],
      ['POST', '/api/secrets', { name: 'NEW', value: 'v' }],
      ['PUT', '/api/secrets/KEY', { value: 'v' }],
      ['DELETE', '/api/secrets/NEW', undefined],
    ] as const;
    const statuses = async (caller: FakeCaller | null, query: string): Promise<number[]> => {
      const answers: number[] = [];
      for (const [method, path, body] of all) {
        answers.push((await platform.call(method, `${path}${query}`, { caller, ...(body && { body }) })).status);
      }
      return answers;
    };
    expect(await statuses(null, '')).toEqual([401, 401, 401, 401, 401]);
    expect(await statuses(stranger, `?workspace_uuid=${workspaceUuid}`)).toEqual([404, 404, 404, 404, 404]);
    expect(await statuses(guest, inTeam)).toEqual([200, 200, 403, 403, 403]);
    expect(await statuses(reader, '')).toEqual([200, 200, 403, 403, 403]);
    expect(await statuses(platform.access.guest(), '')).toEqual([403, 403, 403, 403, 403]);
    expect(await statuses(member, inTeam)).toEqual([200, 200, 201, 200, 200]);
    expect((await platform.call('GET', '/api/secrets', { caller: stranger })).body['count']).toBe(0);
  });

  it('are added by rules of a sandbox, which follow every change', async () => {
    await put('KEY', VALUE);
    const body = { image: 'busybox', network: 'egress', egress_rules: rules() };
    const made = await platform.call('POST', '/api/sandboxes', { body });
    expect(made).toMatchObject({ status: 201, body: { error: null, status: 'running' } });
    const stored = [{ host: 'api.example.com', header: 'x-key', secret: 'KEY', template: '{value}', insecure: false }];
    expect(made.body['egress_rules']).toEqual(stored);
    expect(driver.contents()).toEqual([VALUE]);
    await put('KEY', 'next');
    await expect.poll(() => driver.contents()).toEqual(['next']);
    await platform.call('DELETE', '/api/secrets/KEY');
    await expect.poll(() => driver.contents()).toEqual([null]);
    await post('KEY', 'again');
    await expect.poll(() => driver.contents()).toEqual(['again']);
    const path = `/api/sandboxes/${made.body['id']}/egress/rules`;
    const changed = await platform.call('PUT', path, { body: { egress_rules: [] } });
    expect(changed.body['egress_rules']).toEqual([]);
    expect(driver.applied.at(-1)?.[1]).toBeNull();
    const forked = await platform.call('PUT', path, { body: { egress_rules: body.egress_rules } });
    expect(forked.body['egress_rules']).toEqual(stored);
    await platform.call('POST', `/api/sandboxes/${made.body['id']}/stop`);
    await platform.close();
    await platform.reopen();
    expect((await platform.call('GET', `/api/sandboxes/${made.body['id']}`)).body['egress_rules']).toEqual(stored);
  });

  it('are kept with a snapshot, for sandboxes created from it', async () => {
    const create = async (body: Record<string, unknown>) =>
      (await platform.call('POST', '/api/sandboxes', { body: { network: 'egress', ...body } })).body;
    const { id } = await create({ image: 'busybox', egress_rules: rules() });
    const taken = await platform.call('POST', `/api/sandboxes/${id}/snapshots`, { body: {} });
    const snapshot = { snapshot_id: taken.body['id'] };
    expect(await create(snapshot)).toMatchObject({ egress_rules: [{ host: 'api.example.com', secret: 'KEY' }] });
    expect(await create({ ...snapshot, egress_rules: [] })).toMatchObject({ egress_rules: [] });
    expect(await create({ ...snapshot, network: 'none' })).toMatchObject({ status: 'running', egress_rules: [] });
  });

  it('are applied again when the platform starts', async () => {
    const body = { image: 'busybox', network: 'egress', egress_rules: rules() };
    const made = await platform.call('POST', '/api/sandboxes', { body });
    const authority = driver.applied.at(-1)?.[1]?.authority;
    await platform.close();
    driver.applied.length = 0;
    await platform.reopen();
    expect(driver.applied).toContainEqual([made.body['id'], expect.objectContaining({ authority })]);
    expect(driver.contents()).toEqual(['again']);
  });

  it.each([
    [{ egress_rules: rules('UNKNOWN') }, 'UNKNOWN_SECRET', 'egress_rules[0].secret'],
    [{ egress_rules: [{ host: '1.2.3.4', header: 'a', secret: 'KEY' }] }, 'INVALID_FIELD', 'egress_rules[0].host'],
    [{ egress_rules: rules(), network: 'none' }, 'INVALID_FIELD', 'egress_rules'],
    [{ egress_rules: Array.from({ length: 21 }, () => rules()[0]) }, undefined, 'egress_rules'],
    [{ egress_rules: [{ ...rules()[0], value: 'v' }] }, undefined, 'egress_rules'],
  ])('refuse wrong rules, with the field: %j', async (wrong, code, field) => {
    const answer = await platform.call('POST', '/api/sandboxes', {
      body: { image: 'busybox', network: 'egress', ...wrong },
    });
    expect(answer.status).toBe(400);
    if (code !== undefined) expect(answer.body['code']).toBe(code);
    expect(JSON.stringify(answer.body)).toContain(field);
  });

  it('cannot be named by guests, from another workspace, or where the driver adds none', async () => {
    const body = { image: 'busybox', network: 'egress', egress_rules: rules() };
    const guest = await platform.call('POST', '/api/sandboxes', { caller: platform.access.guest(), body });
    expect(guest).toMatchObject({ status: 403, body: { code: 'SECRETS_OF_GUESTS' } });
    const foreign = await platform.call('POST', '/api/sandboxes', { caller: stranger, body });
    expect(foreign).toMatchObject({ status: 400, body: { code: 'UNKNOWN_SECRET' } });
    const plain = new FakeDriver();
    const other = await startPlatform({ driver: plain });
    await other.call('POST', '/api/secrets', { body: { name: 'KEY', value: 'v' } });
    expect(await other.call('POST', '/api/sandboxes', { body })).toMatchObject({
      status: 400,
      body: { code: 'UNSUPPORTED_EGRESS_RULES', details: { field: 'egress_rules' } },
    });
    await other.dispose();
    await plain.dispose();
  });

  it('count against the quota, and keep their workspace', async () => {
    const limited = new FakeDriver();
    const quotaLimits = {
      readLimits: async (workspaceUuid: string) => ({
        workspaceUuid,
        ownerId: 'o',
        ownerWorkspaces: [workspaceUuid],
        workspace: { secrets: 1 },
        owner: {},
      }),
      shareOf: (workspaceUuid: string) => workspaceUuid,
    };
    const other = await startPlatform({ driver: limited, quotaLimits: () => quotaLimits });
    const create = (name: string) => other.call('POST', '/api/secrets', { body: { name, value: 'v' } });
    expect((await create('ONE')).status).toBe(201);
    expect(await create('TWO')).toMatchObject({ status: 403, body: { code: 'QUOTA_EXCEEDED' } });
    expect(await other.module.holdings(other.owner.workspaceUuid)).toEqual(['1 secret']);
    await other.dispose();
    await limited.dispose();
  });
});

it('secrets are sealed under the newest master key by a change of it', async () => {
  const source = await sqliteSource(migrations);
  const database = await source.open<unknown>();
  const tables = database as Database<SandboxTables>;
  const keys = [0, 1].map(() => createSecretKey(randomBytes(32)));
  const wrapperOf = (current: number) =>
    createLocalKeyWrapper({
      loadMasterKeys: async () => ({ current: keys[current] ?? createSecretKey(randomBytes(32)), others: keys }),
      random: randomBytes,
    });
  const repository = createSecretRepository(tables.kysely);
  const secret = {
    id: 'sec_a',
    workspaceUuid: 'w',
    name: 'KEY',
    version: 1,
    creatorId: 'c',
    createdAt: 't',
    updatedAt: 't',
  };
  const sealed = await wrapperOf(0).wrap(Buffer.from(VALUE), secretContext('sec_a'));
  const limits = { workspaceUuid: 'w', ownerId: 'o', ownerWorkspaces: ['w'], workspace: {}, owner: {} };
  await repository.insert({ secret, sealed }, limits);
  const webhooks = createWebhookRepository(tables.kysely);
  const webhook = {
    id: 'whk_a',
    workspaceUuid: 'w',
    url: 'https://example.com/',
    description: '',
    events: null,
    enabled: true,
    disabledReason: null,
    failingSinceMs: null,
    lastError: null,
    missed: 0,
    position: 0,
    creatorId: 'c',
    createdAt: 't',
    updatedAt: 't',
  };
  await webhooks.insert(webhook, await wrapperOf(0).wrap(Buffer.from(VALUE), webhookContext('whk_a')), limits);
  expect(await rewrapSandboxSecrets(database, wrapperOf(1))).toBe(2);
  expect(await rewrapSandboxSecrets(database, wrapperOf(1))).toBe(0);
  const onlyNew = createLocalKeyWrapper({
    loadMasterKeys: async () => ({ current: keys[1] ?? createSecretKey(randomBytes(32)), others: [] }),
    random: randomBytes,
  });
  const [stored] = await repository.sealed('w', ['KEY']);
  if (stored === undefined) throw new Error('the secret is gone');
  expect((await onlyNew.unwrap(stored.sealed, secretContext('sec_a'))).toString()).toBe(VALUE);
  const signing = await webhooks.sealed('whk_a');
  if (signing === null) throw new Error('the webhook is gone');
  expect((await onlyNew.unwrap(signing, webhookContext('whk_a'))).toString()).toBe(VALUE);
  await database.close();
  await source.close();
});
