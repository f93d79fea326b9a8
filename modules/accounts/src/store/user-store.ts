import { compileOnce } from '@svc/sql';
import type { Kysely } from 'kysely';
import type { UserStore } from '../domain/stores.ts';
import type { AccountTables } from './tables.ts';

export function createUserStore(kysely: Kysely<AccountTables>): UserStore {
  const byId = compileOnce(kysely, (id) => kysely.selectFrom('accountUser').selectAll().where('id', '=', id));
  return {
    async insert(user) {
      const result = await kysely
        .insertInto('accountUser')
        .values(user)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return Number(result.numInsertedOrUpdatedRows) === 1;
    },
    byId: async (id) => (await byId(id))[0],
    byEmail: (email) => kysely.selectFrom('accountUser').selectAll().where('email', '=', email).executeTakeFirst(),
    operator: () =>
      kysely
        .selectFrom('accountUser')
        .selectAll()
        .where('operatorSince', 'is not', null)
        .orderBy('createdAt')
        .orderBy('id')
        .limit(1)
        .executeTakeFirst(),
    async update(id, changes, now) {
      await kysely
        .updateTable('accountUser')
        .set({ ...changes, updatedAt: now })
        .where('id', '=', id)
        .execute();
    },
    async lock(id) {
      // Writing the row to itself locks it on PostgreSQL; SQLite has a single writer.
      await kysely
        .updateTable('accountUser')
        .set((expression) => ({ id: expression.ref('id') }))
        .where('id', '=', id)
        .execute();
    },
    async countGuests(now, { guestAddress, guestNetwork }) {
      return kysely
        .selectFrom('accountUser')
        .select(({ fn }) => [
          fn.countAll<number>().as('all'),
          fn.countAll<number>().filterWhere('guestAddress', '=', guestAddress).as('address'),
          fn.countAll<number>().filterWhere('guestNetwork', '=', guestNetwork).as('network'),
        ])
        .where('kind', '=', 'guest')
        .where('expiresAt', '>', now)
        .executeTakeFirstOrThrow();
    },
    async countSponsoredBy(id) {
      const { count } = await kysely
        .selectFrom('accountUser')
        .select((expression) => expression.fn.countAll<number>().as('count'))
        .where('sponsorId', '=', id)
        .executeTakeFirstOrThrow();
      return count;
    },
    expiredGuests: (now, limit) =>
      kysely
        .selectFrom('accountUser')
        .selectAll()
        .where('kind', '=', 'guest')
        .where('expiresAt', '<=', now)
        .orderBy('updatedAt')
        .limit(limit)
        .execute(),
    async delete(id) {
      await kysely.deleteFrom('accountUser').where('id', '=', id).execute();
    },
  };
}
