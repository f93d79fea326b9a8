import { compileOnce } from '@svc/sql';
import type { Kysely } from 'kysely';
import type { SessionStore } from '../domain/stores.ts';
import type { AccountTables } from './tables.ts';

export function createSessionStore(kysely: Kysely<AccountTables>): SessionStore {
  const sessions = kysely.selectFrom('accountSession').selectAll();
  const byId = compileOnce(kysely, (id) => sessions.where('id', '=', id));
  const byTokenHash = compileOnce(kysely, (hash) => sessions.where('tokenHash', '=', hash));
  return {
    async insert(session) {
      await kysely.insertInto('accountSession').values(session).execute();
    },
    byId: async (id) => (await byId(id))[0],
    byTokenHash: async (hash) => (await byTokenHash(hash))[0],
    async touch(id, now) {
      await kysely.updateTable('accountSession').set({ lastSeenAt: now }).where('id', '=', id).execute();
    },
    async confirm(id, now) {
      await kysely.updateTable('accountSession').set({ confirmedAt: now }).where('id', '=', id).execute();
    },
    async delete(id) {
      const { numDeletedRows } = await kysely.deleteFrom('accountSession').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
    async deleteOfUser(userId, exceptId) {
      let query = kysely.deleteFrom('accountSession').where('userId', '=', userId);
      if (exceptId !== undefined) query = query.where('id', '!=', exceptId);
      return Number((await query.executeTakeFirst()).numDeletedRows);
    },
    async trim(userId, keep) {
      const kept = kysely
        .selectFrom('accountSession')
        .select('id')
        .where('userId', '=', userId)
        .orderBy('createdAt', 'desc')
        .orderBy('id', 'desc')
        .limit(keep);
      await kysely.deleteFrom('accountSession').where('userId', '=', userId).where('id', 'not in', kept).execute();
    },
    async deleteExpired(now, idleBefore, limit) {
      const dead = kysely
        .selectFrom('accountSession')
        .select('id')
        .where((expression) =>
          expression.or([expression('expiresAt', '<=', now), expression('lastSeenAt', '<=', idleBefore)]),
        )
        .limit(limit);
      return Number(
        (await kysely.deleteFrom('accountSession').where('id', 'in', dead).executeTakeFirst()).numDeletedRows,
      );
    },
  };
}
