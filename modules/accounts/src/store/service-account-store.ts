import { compileOnce } from '@svc/sql';
import type { Kysely } from 'kysely';
import type { ServiceAccountStore } from '../domain/stores.ts';
import { isAfter } from './keyset.ts';
import type { AccountTables } from './tables.ts';

export function createServiceAccountStore(kysely: Kysely<AccountTables>): ServiceAccountStore {
  const accounts = kysely.selectFrom('accountServiceAccount').selectAll();
  const byId = compileOnce(kysely, (id) => accounts.where('id', '=', id));
  const byTokenHash = compileOnce(kysely, (hash) => accounts.where('tokenHash', '=', hash));
  return {
    async insert(account) {
      await kysely.insertInto('accountServiceAccount').values(account).execute();
    },
    byId: async (id) => (await byId(id))[0],
    byTokenHash: async (hash) => (await byTokenHash(hash))[0],
    ofWorkspace: (workspaceUuid, { after, limit }) =>
      kysely
        .selectFrom('accountServiceAccount')
        .selectAll()
        .where('workspaceUuid', '=', workspaceUuid)
        .where((expression) => isAfter(expression, 'createdAt', 'id', after))
        .orderBy('createdAt')
        .orderBy('id')
        .limit(limit + 1)
        .execute(),
    async count(workspaceUuid) {
      const { count } = await kysely
        .selectFrom('accountServiceAccount')
        .select((expression) => expression.fn.countAll<number>().as('count'))
        .where('workspaceUuid', '=', workspaceUuid)
        .executeTakeFirstOrThrow();
      return count;
    },
    async touch(id, now) {
      await kysely.updateTable('accountServiceAccount').set({ lastUsedAt: now }).where('id', '=', id).execute();
    },
    async rename(workspaceUuid, id, name) {
      const { numUpdatedRows } = await kysely
        .updateTable('accountServiceAccount')
        .set({ name })
        .where('workspaceUuid', '=', workspaceUuid)
        .where('id', '=', id)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async delete(workspaceUuid, id) {
      const { numDeletedRows } = await kysely
        .deleteFrom('accountServiceAccount')
        .where('workspaceUuid', '=', workspaceUuid)
        .where('id', '=', id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
    async deleteExpired(before, limit) {
      const old = kysely.selectFrom('accountServiceAccount').select('id').where('expiresAt', '<', before).limit(limit);
      return Number(
        (await kysely.deleteFrom('accountServiceAccount').where('id', 'in', old).executeTakeFirst()).numDeletedRows,
      );
    },
  };
}
