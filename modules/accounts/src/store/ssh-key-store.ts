import type { Kysely } from 'kysely';
import type { SshKeyStore } from '../domain/stores.ts';
import { isAfter } from './keyset.ts';
import type { AccountTables } from './tables.ts';

export function createSshKeyStore(kysely: Kysely<AccountTables>): SshKeyStore {
  return {
    async insert(key) {
      const result = await kysely
        .insertInto('accountSshKey')
        .values(key)
        .onConflict((conflict) => conflict.column('fingerprint').doNothing())
        .executeTakeFirst();
      return Number(result.numInsertedOrUpdatedRows) === 1;
    },
    byId: (id) => kysely.selectFrom('accountSshKey').selectAll().where('id', '=', id).executeTakeFirst(),
    byFingerprint: (fingerprint) =>
      kysely.selectFrom('accountSshKey').selectAll().where('fingerprint', '=', fingerprint).executeTakeFirst(),
    ofUser: (userId, { after, limit }) =>
      kysely
        .selectFrom('accountSshKey')
        .selectAll()
        .where('userId', '=', userId)
        .where((expression) => isAfter(expression, 'createdAt', 'id', after))
        .orderBy('createdAt')
        .orderBy('id')
        .limit(limit + 1)
        .execute(),
    async countOfUser(userId) {
      const { count } = await kysely
        .selectFrom('accountSshKey')
        .select((expression) => expression.fn.countAll<number>().as('count'))
        .where('userId', '=', userId)
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    async touch(id, now) {
      await kysely.updateTable('accountSshKey').set({ lastUsedAt: now }).where('id', '=', id).execute();
    },
    async delete(userId, id) {
      const { numDeletedRows } = await kysely
        .deleteFrom('accountSshKey')
        .where('userId', '=', userId)
        .where('id', '=', id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
