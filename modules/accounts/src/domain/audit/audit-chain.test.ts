import { createSecretKey, randomBytes } from 'node:crypto';
import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { createAccountDatabase } from '../../store/account-database.ts';
import type { AccountDatabase } from '../stores.ts';
import { AuditChain, type UnlinkedRecord } from './audit-chain.ts';
import { verifyChain, type BreakReason } from './verify-chain.ts';

const key = createSecretKey(randomBytes(32));

function record(action: string, day = 1): UnlinkedRecord {
  return {
    occurredAt: `2026-01-${String(day).padStart(2, '0')}T00:00:00.000Z`,
    actorKind: 'user',
    actorId: 'ann',
    actorName: 'ann@example.com',
    credential: 'session',
    credentialId: null,
    action,
    resource: 'bucket/photos',
    workspaceUuid: null,
    outcome: 'success',
    status: 200,
    remoteAddress: '198.51.100.1',
    requestId: 'req_1',
    details: '{}',
  };
}

describeDialects<unknown>('the audit chain', migrations, (database) => {
  let stores: AccountDatabase;
  let chain: AuditChain;
  beforeEach(async () => {
    stores = createAccountDatabase(database());
    await stores.transactAudit((each) => each.addKey({ wrapper: 'test', text: 'test' }));
    chain = new AuditChain(stores, key);
    await chain.begin();
  });
  const append = async (count: number, day = 1): Promise<void> => {
    for (let index = 0; index < count; index += 1) await chain.append(record(`bucket:create-${index}`, day));
  };
  const run = (statement: string) => sql.raw(statement).execute(database().kysely);
  const RULE = 'accounts.audit_retention_days: 7';
  const purge = (before: string, limit: number, purgedAt = '2026-02-02T00:00:00.000Z') =>
    chain.purge({ before, limit, purgedAt, rule: RULE });
  const removedBy = async (before: string, limit: number) => (await purge(before, limit)).removed;
  const verify = () => verifyChain(stores, key);
  const sequences = async (): Promise<number[]> =>
    (await stores.audit.list({}, 1_000, null)).map(({ sequence }) => sequence).toReversed();
  const found = async (): Promise<[number, BreakReason][]> =>
    (await verify()).breaks.map(({ sequence, reason }) => [sequence, reason]);
  const at = async (index: number): Promise<number> => (await sequences()).at(index) ?? -1;

  it('holds while empty and as it grows', async () => {
    expect(await verify()).toMatchObject({ holds: true, rows: 0 });
    await append(5);
    expect(await verify()).toMatchObject({ holds: true, rows: 5, breaks: [] });
  });

  it('stays one chain for replicas that write concurrently, and loses no record', async () => {
    const other = new AuditChain(createAccountDatabase(database()), key);
    await other.begin();
    const writes = Array.from({ length: 300 }, (_, index) =>
      (index % 2 === 0 ? chain : other).append(record(`bucket:create-${index}`)),
    );
    await Promise.all(writes);
    expect(await verify()).toMatchObject({ holds: true, rows: 300 });
  });

  it('links rows in the order of their numbers', async () => {
    await Promise.all(Array.from({ length: 50 }, (_, index) => chain.append(record(`bucket:create-${index}`))));
    const listed = await stores.audit.list({}, 100, null);
    expect(listed.map(({ action }) => action).toReversed()).toEqual(
      Array.from({ length: 50 }, (_, index) => `bucket:create-${index}`),
    );
  });

  it.each(['actor_name', 'action', 'resource', 'occurred_at', 'remote_address', 'details', 'outcome'])(
    'finds a row whose %s was changed, and only that row',
    async (column) => {
      await append(5);
      const row = await at(2);
      await run(`update account_audit set ${column} = 'x' where sequence = ${row}`);
      expect(await found()).toEqual([[row, 'row_broken']]);
    },
  );

  it('finds a removed row', async () => {
    await append(5);
    const [removed, next] = [await at(2), await at(3)];
    await run(`delete from account_audit where sequence = ${removed}`);
    expect(await found()).toEqual([[next, 'row_broken']]);
  });

  it('finds rows removed at either end', async () => {
    await append(5);
    const [second, last] = [await at(1), await at(4)];
    await run(`delete from account_audit where sequence < ${second}`);
    expect(await found()).toEqual([[second, 'row_broken']]);
    await run(`delete from account_audit where sequence = ${last}`);
    expect((await found()).map(([, reason]) => reason)).toEqual(['row_broken', 'tail_missing']);
  });

  it('detects that all rows were removed, even with both ends of the chain', async () => {
    await append(3);
    await run('delete from account_audit');
    expect((await found()).map(([, reason]) => reason)).toEqual(['tail_missing']);
    await run('delete from account_audit_end');
    expect((await found()).map(([, reason]) => reason)).toEqual(['checkpoint_broken', 'head_broken']);
  });

  it("finds a row written by something else: without a link, with another row's link, and past the end", async () => {
    await append(3);
    const [first, last] = [await at(0), await at(2)];
    const columns = `occurred_at, actor_kind, actor_id, actor_name, credential, credential_id, action, resource,
      workspace_uuid, outcome, status, remote_address, request_id, details`;
    const copy = (sequence: number, mac: string) =>
      run(`insert into account_audit (sequence, ${columns}, mac)
        select ${sequence}, ${columns}, ${mac} from account_audit where sequence = ${first}`);
    await copy(last + 1, 'mac');
    expect(await found()).toEqual([[last + 1, 'row_outside']]);
    await run(`delete from account_audit where sequence = ${last + 1}`);
    await run(`update account_audit set sequence = ${last + 7} where sequence = ${last}`);
    await run(`delete from account_audit where sequence = ${last + 7}`);
    await append(1);
    await copy(last, 'null');
    expect((await found()).some(([sequence, reason]) => sequence === last && reason === 'row_unlinked')).toBe(true);
    await copy(first - 1, 'mac');
    expect((await found()).some(([sequence]) => sequence === first - 1)).toBe(true);
  });

  it('finds two swapped rows', async () => {
    await append(5);
    const [left, right] = [await at(1), await at(2)];
    await run(`update account_audit set sequence = -1 where sequence = ${left}`);
    await run(`update account_audit set sequence = ${left} where sequence = ${right}`);
    await run(`update account_audit set sequence = ${right} where sequence = -1`);
    expect((await found()).map(([sequence]) => sequence)).toEqual(expect.arrayContaining([left, right]));
  });

  it('detects moved ends, because only the platform can sign them', async () => {
    await append(3);
    const row = await at(1);
    await run(`update account_audit_end set sequence = ${row} where name = 'head'`);
    expect((await found()).map(([, reason]) => reason)).toContain('head_broken');
  });

  it('detects a log rolled back together with its end, given an earlier head', async () => {
    await append(2);
    const { head: early } = await verify();
    const before = await run('select * from account_audit_end');
    const kept = await at(1);
    await append(3);
    const { head: late } = await verify();
    const [end] = (before.rows as { name: string; sequence: number; mac: string; seal: string }[]).filter(
      ({ name }) => name === 'head',
    );
    await run(`delete from account_audit where sequence > ${kept}`);
    await run(
      `update account_audit_end set sequence = ${end?.sequence}, mac = '${end?.mac}', seal = '${end?.seal}' where name = 'head'`,
    );
    expect((await verify()).holds).toBe(true); // the remaining log is an intact older state
    expect((await verifyChain(stores, key, early ?? undefined)).holds).toBe(true);
    expect(await verifyChain(stores, key, late ?? undefined)).toMatchObject({
      holds: false,
      breaks: [{ reason: 'anchor_missed' }],
    });
  });

  it('cannot be relinked without the key', async () => {
    await append(3);
    await run(`update account_audit set action = 'x' where sequence = ${await at(1)}`);
    await run(`update account_audit set mac = null`);
    await run('delete from account_audit_end');
    await new AuditChain(stores, createSecretKey(randomBytes(32))).begin();
    expect((await verify()).holds).toBe(false);
  });

  it('still holds after a purge of the oldest rows, and finds rows that are put back', async () => {
    await append(4, 1);
    await append(3, 9);
    const first = await at(0);
    const anchor = (await verify()).head ?? undefined;
    expect(await removedBy('2026-01-05T00:00:00.000Z', 3)).toBe(3);
    expect(await removedBy('2026-01-05T00:00:00.000Z', 3)).toBe(1);
    expect(await removedBy('2026-01-05T00:00:00.000Z', 3)).toBe(0);
    expect(await verifyChain(stores, key, anchor)).toMatchObject({ holds: true, rows: 3 });
    await append(1, 10);
    expect(await removedBy('2026-02-01T00:00:00.000Z', 100)).toBe(4);
    expect(await verifyChain(stores, key, anchor)).toMatchObject({ holds: true, rows: 0 });
    await append(1, 11);
    expect(await verify()).toMatchObject({ holds: true, rows: 1 });
    await run(`update account_audit set sequence = ${first}`);
    expect((await found()).map(([, reason]) => reason)).toContain('row_outside');
  });

  it('records what a purge removed, when and by which rule, and verifies that record', async () => {
    await append(4, 1);
    await append(3, 9);
    expect((await verify()).purged).toBeNull();
    const through = await at(3);
    await purge('2026-01-05T00:00:00.000Z', 3);
    await purge('2026-01-05T00:00:00.000Z', 3);
    const first = {
      day: '2026-02-02',
      rows: 4,
      through,
      oldest: '2026-01-01T00:00:00.000Z',
      newest: '2026-01-01T00:00:00.000Z',
      rule: RULE,
    };
    expect(await verify()).toMatchObject({ holds: true, rows: 3, purged: { rows: 4, days: [first] } });
    await purge('2026-01-15T00:00:00.000Z', 3, '2026-02-03T00:00:00.000Z');
    expect((await verify()).purged).toMatchObject({ rows: 7, days: [first, { day: '2026-02-03', rows: 3 }] });
    await run(`update account_audit_end set purged = '{"rows":0,"days":[]}' where name = 'checkpoint'`);
    expect(await verify()).toMatchObject({ holds: false, purged: null });
    expect(await found()).toContainEqual([0, 'checkpoint_broken']);
  });

  it('purges only rows that verify: changed rows stay and are found after every purge', async () => {
    await append(5, 1);
    await append(2, 9);
    const changed = await at(2);
    await run(`update account_audit set actor_name = 'x' where sequence = ${changed}`);
    const before = '2026-01-05T00:00:00.000Z';
    expect(await purge(before, 100)).toEqual({ removed: 2, brokenAt: changed });
    expect(await purge(before, 100)).toEqual({ removed: 0, brokenAt: changed });
    expect(await found()).toEqual([[changed, 'row_broken']]);
    expect((await verify()).purged).toMatchObject({ rows: 2 });
  });

  it('purges nothing if rows were removed or inserted before the oldest, or if the checkpoint was moved', async () => {
    await append(4, 1);
    const before = '2026-01-05T00:00:00.000Z';
    const [first, second] = [await at(0), await at(1)];
    await run(`delete from account_audit where sequence = ${first}`);
    expect(await purge(before, 100)).toEqual({ removed: 0, brokenAt: second });
    await run(`update account_audit_end set sequence = ${first} where name = 'checkpoint'`);
    expect(await purge(before, 100)).toEqual({ removed: 0, brokenAt: second });
    await run(`update account_audit_end set sequence = 0 where name = 'checkpoint'`);
    await run(`update account_audit set sequence = -1, mac = null where sequence = ${second}`);
    expect(await purge(before, 100)).toEqual({ removed: 0, brokenAt: -1 });
    expect((await verify()).holds).toBe(false);
  });

  it('covers rows written before it began, even if beginning was interrupted', async () => {
    await Promise.all(Array.from({ length: 1_203 }, (_, index) => chain.append(record(`bucket:create-${index}`))));
    await run('update account_audit set mac = null');
    await run('delete from account_audit_end');
    expect((await verify()).holds).toBe(false);
    let transactions = 0;
    const cutOff: AccountDatabase = {
      ...stores,
      transactAudit: (work) => {
        transactions += 1;
        if (transactions === 2) throw new Error('killed');
        return stores.transactAudit(work);
      },
    };
    await expect(new AuditChain(cutOff, key).begin()).rejects.toThrow('killed');
    await new AuditChain(stores, key).begin();
    expect(await verify()).toMatchObject({ holds: true, rows: 1_203 });
    await run(`delete from account_audit where sequence = ${await at(700)}`);
    expect((await verify()).holds).toBe(false);
  });

  it('fails only the record that could not be written', async () => {
    const bad = { ...record('x'), action: null as unknown as string }; // rejected by the database
    const together = [
      chain.append(record('first')),
      chain.append(record('a')),
      chain.append(bad),
      chain.append(record('b')),
    ];
    expect((await Promise.allSettled(together)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(await verify()).toMatchObject({ holds: true, rows: 3 });
  });
});
