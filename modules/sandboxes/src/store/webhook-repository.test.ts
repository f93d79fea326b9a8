import { migrations } from '@svc/migrations';
import { unlimitedQuotas } from '@svc/quotas';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import type { SandboxWebhook, WebhookDelivery } from '../domain/webhooks/webhook.ts';
import { createEventLog } from './event-log.ts';
import type { SandboxTables } from './tables.ts';
import { createWebhookRepository } from './webhook-repository.ts';

const AT = '2026-01-01T00:00:00.000Z';
const SEALED = { wrapper: 'local', text: 'box' };

const webhook = (id: string, more: Partial<SandboxWebhook> = {}): SandboxWebhook => ({
  id,
  workspaceUuid: 'w',
  url: 'https://example.com/',
  description: '',
  events: null,
  enabled: true,
  disabledReason: null,
  creatorId: 'u',
  createdAt: AT,
  updatedAt: AT,
  position: 0,
  failingSinceMs: null,
  lastError: null,
  missed: 0,
  ...more,
});

const delivery = (sequence: number, more: Partial<WebhookDelivery> = {}): WebhookDelivery => ({
  sequence,
  sandboxId: 'sbx_a',
  type: 'running',
  state: 'delivered',
  attempts: 1,
  nextAttemptAtMs: 0,
  attemptedAt: AT,
  status: 200,
  error: null,
  ...more,
});

describeDialects<SandboxTables>('WebhookRepository', migrations, (database) => {
  const repository = () => createWebhookRepository(database().kysely);
  const add = async (...webhooks: readonly SandboxWebhook[]): Promise<void> => {
    const limits = await unlimitedQuotas.readLimits('w');
    for (const each of webhooks) await repository().insert(each, SEALED, limits);
  };
  const sequences = async (id: string) =>
    (await repository().deliveries(id, null, 100)).map(({ sequence }) => sequence);

  const waiting = async (after: string, limit: number) =>
    (await repository().waiting(after, limit)).map(({ id }) => id);

  it('finds enabled webhooks behind the last event of their workspace, in order', async () => {
    await add(webhook('a'), webhook('b', { enabled: false }), webhook('c', { position: 1 }), webhook('d'));
    await add(webhook('e', { workspaceUuid: 'x' }));
    const event = { type: 'running', details: {}, workspaceUuid: 'w', sandboxId: 'sbx_a', at: AT } as const;
    await createEventLog(database().kysely).append([event]);
    expect(await waiting('', 10)).toEqual(['a', 'd']);
    expect(await waiting('a', 10)).toEqual(['d']);
    expect(await waiting('', 1)).toEqual(['a']);
  });

  it('gives the lease of a webhook to one holder until it expires or is released', async () => {
    await add(webhook('a'));
    const take = (holder: string, nowMs: number) =>
      repository().takeLease({ id: 'a', holder, nowMs, untilMs: nowMs + 100 });
    expect([await take('one', 0), await take('two', 99), await take('one', 50)]).toEqual([true, false, true]);
    expect([await take('two', 149), await take('two', 150)]).toEqual([false, true]);
    await repository().releaseLeases('two');
    expect(await take('one', 151)).toBe(true);
    const claims = await Promise.all(['x', 'y', 'z'].map((holder) => take(holder, 1_000)));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });

  it('keeps one row for each event, and the newest ones only', async () => {
    await add(webhook('a'), webhook('b'));
    await repository().record('a', [delivery(1, { state: 'retrying', attempts: 1, error: 'HTTP 500' })]);
    await repository().record('a', [delivery(1, { attempts: 2 }), delivery(2), delivery(3), delivery(9)]);
    await repository().record('b', [delivery(1)]);
    await repository().record('gone', [delivery(1)]);
    expect(await repository().findDelivery('a', 1)).toEqual(delivery(1, { attempts: 2 }));
    await repository().advance('a', 3, 2, 1);
    expect(await sequences('a')).toEqual([9, 3]);
    expect(await repository().attempted('a', 3, 10)).toEqual([delivery(9)]);
    await repository().advance('a', 2, 5, 1);
    expect(await repository().get('a')).toMatchObject({ position: 3, missed: 2 });
    await repository().remove('a');
    expect([await sequences('a'), await sequences('b'), await sequences('gone')]).toEqual([[], [1], []]);
  });

  it('starts anew without retries and failures of before', async () => {
    await add(webhook('a'));
    await repository().record('a', [delivery(1, { state: 'retrying' }), delivery(2)], {
      failingSinceMs: 5,
      lastError: 'HTTP 500',
    });
    await repository().disable('a', 'it failed', AT);
    expect(await repository().get('a')).toMatchObject({
      enabled: false,
      failingSinceMs: 5,
      disabledReason: 'it failed',
    });
    const changed = await repository().update('a', {
      enabled: true,
      events: ['created'],
      updatedAt: 'later',
      position: 7,
    });
    expect(changed).toEqual(webhook('a', { events: ['created'], updatedAt: 'later', position: 7 }));
    expect(await sequences('a')).toEqual([2]);
    expect(await repository().update('gone', { updatedAt: AT })).toBeNull();
  });

  it('replaces sealed secrets only if they are those that were read', async () => {
    await add(webhook('a'));
    const next = { wrapper: 'local', text: 'next' };
    expect(await repository().replaceSealed('a', { wrapper: 'local', text: 'other' }, next, AT)).toBe(false);
    expect(await repository().replaceSealed('a', SEALED, next, AT)).toBe(true);
    expect([await repository().sealed('a'), await repository().sealed('gone')]).toEqual([next, null]);
  });
});
