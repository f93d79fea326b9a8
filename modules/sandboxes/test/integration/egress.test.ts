import type { FakeCaller } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

class GuardingDriver extends FakeDriver {
  readonly limitsEgress = true;
  readonly changes: (readonly string[])[] = [];

  async changeEgress(_id: string, allowed: readonly string[]): Promise<void> {
    if (allowed.includes('fails.example')) throw new Error('the firewall refuses');
    this.changes.push(allowed);
  }
}

describe('egress_allow in a create request', () => {
  const driver = new GuardingDriver();
  let platform: TestPlatform;
  const create = (body: Record<string, unknown>) =>
    platform.call('POST', '/api/containers', { body: { image: 'busybox', ...body } });

  beforeAll(async () => {
    platform = await startPlatform({ driver });
  });
  afterAll(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  it('is passed to the driver and returned, normalized for DNS and without duplicates', async () => {
    const told: unknown[] = [];
    driver.beforeCreate = async (spec) => void told.push(spec.egressAllow);
    const allow = ['Example.com', '*.example.com', 'example.com.'];
    const made = await create({ network: 'egress', egress_allow: allow });
    expect([made.status, made.body['egress_allow']]).toEqual([201, ['example.com', '*.example.com']]);
    const read = await platform.call('GET', `/api/sandboxes/${made.body['id']}`);
    expect(read.body['egress_allow']).toEqual(['example.com', '*.example.com']);
    expect((await create({ egress_allow: [] })).body['egress_allow']).toEqual([]);
    expect((await create({})).body['egress_allow']).toBeNull();
    expect(told).toEqual([['example.com', '*.example.com'], [], null]);
  });

  it.each([
    [{ egress_allow: ['example.com', '1.2.3'] }, 'egress_allow[1]'],
    [{ egress_allow: ['1.2.3.4/33'] }, 'egress_allow[0]'],
    [{ egress_allow: ['::1'] }, 'egress_allow[0]'],
    [{ egress_allow: ['http://example.com'] }, 'egress_allow[0]'],
    [{ egress_allow: ['*.'] }, 'egress_allow[0]'],
    [{ egress_allow: ['example.com'], network: 'none' }, 'egress_allow'],
    [{ egress_allow: 'example.com' }, 'egress_allow'],
    [{ egress_allow: Array.from({ length: 101 }, (_, index) => `h${index}.example`) }, 'egress_allow'],
  ])("is refused with the field's name: %j", async (body, field) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(field);
  });

  it('changes later, and null allows everything', async () => {
    const { id } = (await create({ egress_allow: ['example.com'] })).body;
    const change = (body: unknown) => platform.call('PUT', `/api/containers/${String(id)}/egress`, { body });
    const changed = await change({ egress_allow: ['1.1.1.1', 'Example.org'] });
    expect([changed.status, changed.body['egress_allow']]).toEqual([200, ['1.1.1.1/32', 'example.org']]);
    expect((await change({ egress_allow: null })).body['egress_allow']).toEqual(['*', '0.0.0.0/0']);
    expect(driver.changes).toEqual([
      ['1.1.1.1/32', 'example.org'],
      ['*', '0.0.0.0/0'],
    ]);
    const read = await platform.call('GET', `/api/sandboxes/${String(id)}`);
    expect(read.body['egress_allow']).toEqual(['*', '0.0.0.0/0']);
  });

  it('denies ranges instead, at creation and later, and shows them', async () => {
    const made = await create({ network: 'egress', egress_deny: ['128.0.0.0/1', '10.1.2.3'] });
    expect([made.status, made.body['egress_deny']]).toEqual([201, ['10.1.2.3/32', '128.0.0.0/1']]);
    expect(made.body['egress_allow']).toContain('*');
    expect(made.body['egress_allow']).not.toContain('0.0.0.0/0');
    const change = (body: unknown) => platform.call('PUT', `/api/sandboxes/${made.body['id']}/egress`, { body });
    expect((await change({ egress_deny: ['0.0.0.0/1'] })).body).toMatchObject({
      egress_allow: ['*', '128.0.0.0/1'],
      egress_deny: ['0.0.0.0/1'],
    });
    expect(driver.changes.at(-1)).toEqual(['*', '128.0.0.0/1']);
    expect((await change({ egress_deny: ['0.0.0.0/0'] })).body).toMatchObject({ egress_allow: [], egress_deny: [] });
    expect((await change({ egress_deny: [] })).body).toMatchObject({
      egress_allow: ['*', '0.0.0.0/0'],
      egress_deny: [],
    });
    expect((await create({ egress_deny: [] })).body['egress_allow']).toBeNull();
  });

  it.each([
    [{ egress_deny: ['example.com'] }, 'egress_deny[0]'],
    [{ egress_deny: ['1.2.3.4', '::1'] }, 'egress_deny[1]'],
    [{ egress_deny: ['1.2.3.4/33'] }, 'egress_deny[0]'],
    [{ egress_deny: ['1.2.3.4'], egress_allow: ['example.com'] }, 'egress_deny'],
    [{ egress_deny: ['1.2.3.4'], egress_allow: [] }, 'egress_deny'],
    [{ egress_deny: Array.from({ length: 101 }, (_, index) => `1.2.3.${index}`) }, 'egress_deny'],
  ])('refuses what it cannot deny, at creation and later: %j', async (body, field) => {
    const { id } = (await create({ network: 'egress' })).body;
    const refused = [await create(body), await platform.call('PUT', `/api/sandboxes/${String(id)}/egress`, { body })];
    for (const { status, body: answer } of refused) {
      expect(status).toBe(400);
      expect(JSON.stringify(answer)).toContain(field);
    }
    expect((await create({ egress_deny: ['1.2.3.4'], network: 'none' })).body['message']).toContain('egress_deny');
    expect((await platform.call('PUT', `/api/sandboxes/${String(id)}/egress`, { body: {} })).status).toBe(400);
  });

  it('stays as it is after a refused change', async () => {
    const { id } = (await create({ egress_allow: [] })).body;
    const none = (await create({ network: 'none' })).body;
    const change = (of: unknown, body: unknown, caller?: FakeCaller) =>
      platform.call('PUT', `/api/containers/${String(of)}/egress`, {
        body,
        ...(caller === undefined ? {} : { caller }),
      });
    const body = { egress_allow: ['a.com'] };
    expect((await change(id, body, platform.access.user('stranger'))).status).toBe(404);
    const reader = platform.access.serviceAccount(platform.owner.workspaceUuid, ['read']);
    expect((await change(id, body, reader)).status).toBe(403);
    expect((await change(id, { egress_allow: ['a b'] })).status).toBe(400);
    expect((await change(id, {})).status).toBe(400);
    expect((await change(id, { egress_allow: ['fails.example'] })).status).toBe(500);
    expect(await change(none['id'], body)).toMatchObject({ status: 409, body: { code: 'EGRESS_FIXED' } });
    expect((await platform.call('GET', `/api/sandboxes/${String(id)}`)).body['egress_allow']).toEqual([]);
  });

  it('is refused if the driver cannot enforce it', async () => {
    const plain = new FakeDriver();
    const other = await startPlatform({ driver: plain });
    const body = { image: 'busybox', network: 'egress', egress_allow: ['example.com'] };
    const answer = await other.call('POST', '/api/containers', { body });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'UNSUPPORTED_EGRESS', details: { field: 'egress_allow' } },
    });
    const { id } = (await other.call('POST', '/api/containers', { body: { image: 'busybox' } })).body;
    const change = await other.call('PUT', `/api/containers/${String(id)}/egress`, { body: { egress_allow: [] } });
    expect(change).toMatchObject({ status: 400, body: { code: 'UNSUPPORTED_EGRESS' } });
    await other.dispose();
    await plain.dispose();
  });
});
