import type { Dialect } from '@svc/sql';
import { sql, type Kysely } from 'kysely';
import type { AuditChainStore, LinkRows } from '../domain/stores.ts';
import type { AccountTables } from './tables.ts';

/** Id of the only row with a key. */
export const KEY_ID = 1;

/** Appends inside the transaction of the store. */
export async function extendChain(chain: AuditChainStore, count: number, link: LinkRows): Promise<void> {
  const before = await chain.lockHead();
  const { records, head } = link(before, await chain.nextSequences(count));
  await chain.insert(records);
  await chain.setEnd('head', head);
}

export function createAuditChainStore(kysely: Kysely<AccountTables>, dialect: Dialect): AuditChainStore {
  return {
    async lockHead() {
      // The key's row exists before the first head, so locking it keeps two replicas from both beginning the chain. On
      // SQLite, the transaction holds the lock from its start.
      if (dialect === 'postgres')
        await kysely.updateTable('accountAuditKey').set({ id: KEY_ID }).where('id', '=', KEY_ID).execute();
      const head = kysely.selectFrom('accountAuditEnd').select(['sequence', 'mac']).where('name', '=', 'head');
      return (await head.executeTakeFirst()) ?? null;
    },
    async end(name) {
      const end = kysely
        .selectFrom('accountAuditEnd')
        .select(['sequence', 'mac', 'seal', 'purged'])
        .where('name', '=', name);
      return (await end.executeTakeFirst()) ?? null;
    },
    async setEnd(name, end) {
      await kysely
        .insertInto('accountAuditEnd')
        .values({ name, ...end })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(end))
        .execute();
    },
    async nextSequences(count) {
      // PostgreSQL's sequence also serves replicas from before the chain while they still run.
      if (dialect === 'postgres') {
        const { rows } = await sql<{ value: number }>`
          select nextval(pg_get_serial_sequence('account_audit', 'sequence')) as value
          from generate_series(1, cast(${count} as integer))`.execute(kysely);
        return rows.map(({ value }) => value).toSorted((left, right) => left - right);
      }
      const newest = kysely.selectFrom('accountAudit').select(({ fn }) => fn.max('sequence').as('sequence'));
      const head = kysely.selectFrom('accountAuditEnd').select('sequence').where('name', '=', 'head');
      const [row, end] = [await newest.executeTakeFirst(), await head.executeTakeFirst()];
      const last = Math.max(row?.sequence ?? 0, end?.sequence ?? 0);
      return Array.from({ length: count }, (_, index) => last + 1 + index);
    },
    async insert(records) {
      await kysely.insertInto('accountAudit').values(records).execute();
    },
    rowsAfter: (sequence, limit) =>
      kysely
        .selectFrom('accountAudit')
        .selectAll()
        .where('sequence', '>', sequence)
        .orderBy('sequence')
        .limit(limit)
        .execute(),
    async deleteThrough(sequence) {
      await kysely.deleteFrom('accountAudit').where('sequence', '<=', sequence).execute();
    },
    async lastLinked() {
      const last = await kysely
        .selectFrom('accountAudit')
        .select(['sequence', 'mac'])
        .where('mac', 'is not', null)
        .orderBy('sequence', 'desc')
        .limit(1)
        .executeTakeFirst();
      return last === undefined || last.mac === null ? null : { sequence: last.sequence, mac: last.mac };
    },
    async setMac({ sequence, mac }) {
      await kysely.updateTable('accountAudit').set({ mac }).where('sequence', '=', sequence).execute();
    },
    async key() {
      const key = kysely.selectFrom('accountAuditKey').select(['wrapper', 'wrapped']).where('id', '=', KEY_ID);
      const found = await key.executeTakeFirst();
      return found === undefined ? null : { wrapper: found.wrapper, text: found.wrapped };
    },
    async addKey({ wrapper, text }) {
      await kysely
        .insertInto('accountAuditKey')
        .values({ id: KEY_ID, wrapper, wrapped: text })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    },
    async replaceKey({ wrapper, text }) {
      await kysely.updateTable('accountAuditKey').set({ wrapper, wrapped: text }).where('id', '=', KEY_ID).execute();
    },
  };
}
