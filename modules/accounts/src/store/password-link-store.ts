import type { Kysely } from 'kysely';
import type { PasswordLinkStore } from '../domain/stores.ts';
import type { AccountTables } from './tables.ts';

export function createPasswordLinkStore(kysely: Kysely<AccountTables>): PasswordLinkStore {
  return {
    async put(link) {
      const { userId: _same, ...changes } = link;
      await kysely
        .insertInto('accountPasswordLink')
        .values(link)
        .onConflict((conflict) => conflict.column('userId').doUpdateSet(changes))
        .execute();
    },
    byTokenHash: (hash) =>
      kysely.selectFrom('accountPasswordLink').selectAll().where('tokenHash', '=', hash).executeTakeFirst(),
    async claim(tokenHash, now) {
      const { numDeletedRows } = await kysely
        .deleteFrom('accountPasswordLink')
        .where('tokenHash', '=', tokenHash)
        .where('expiresAt', '>', now)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
    async deleteOfUser(userId) {
      await kysely.deleteFrom('accountPasswordLink').where('userId', '=', userId).execute();
    },
    async deleteExpired(before, limit) {
      const old = kysely
        .selectFrom('accountPasswordLink')
        .select('userId')
        .where('expiresAt', '<', before)
        .limit(limit);
      return Number(
        (await kysely.deleteFrom('accountPasswordLink').where('userId', 'in', old).executeTakeFirst()).numDeletedRows,
      );
    },
  };
}
