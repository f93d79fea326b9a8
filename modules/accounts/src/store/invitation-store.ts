import type { Kysely } from 'kysely';
import type { InvitationStore } from '../domain/stores.ts';
import { isAfter } from './keyset.ts';
import type { AccountTables } from './tables.ts';

export function createInvitationStore(kysely: Kysely<AccountTables>): InvitationStore {
  return {
    async insert(invitation) {
      await kysely.insertInto('accountInvitation').values(invitation).execute();
    },
    byTokenHash: (hash) =>
      kysely.selectFrom('accountInvitation').selectAll().where('tokenHash', '=', hash).executeTakeFirst(),
    open: (teamUuid, now, { after, limit }) =>
      kysely
        .selectFrom('accountInvitation')
        .selectAll()
        .where('teamUuid', '=', teamUuid)
        .where('acceptedAt', 'is', null)
        .where('expiresAt', '>', now)
        .where((expression) => isAfter(expression, 'createdAt', 'id', after))
        .orderBy('createdAt')
        .orderBy('id')
        .limit(limit + 1)
        .execute(),
    async countOpen(teamUuid, now) {
      const { count } = await kysely
        .selectFrom('accountInvitation')
        .select((expression) => expression.fn.countAll<number>().as('count'))
        .where('teamUuid', '=', teamUuid)
        .where('acceptedAt', 'is', null)
        .where('expiresAt', '>', now)
        .executeTakeFirstOrThrow();
      return count;
    },
    async claim(id, userId, now) {
      const { numUpdatedRows } = await kysely
        .updateTable('accountInvitation')
        .set({ acceptedAt: now, acceptedBy: userId })
        .where('id', '=', id)
        .where('acceptedAt', 'is', null)
        .where('expiresAt', '>', now)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async delete(teamUuid, id) {
      const { numDeletedRows } = await kysely
        .deleteFrom('accountInvitation')
        .where('teamUuid', '=', teamUuid)
        .where('id', '=', id)
        .where('acceptedAt', 'is', null)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
    async deleteOpenBy(teamUuid, invitedBy) {
      await kysely
        .deleteFrom('accountInvitation')
        .where('teamUuid', '=', teamUuid)
        .where('invitedBy', '=', invitedBy)
        .where('acceptedAt', 'is', null)
        .execute();
    },
    async deleteExpired(before, limit) {
      const old = kysely.selectFrom('accountInvitation').select('id').where('expiresAt', '<', before).limit(limit);
      return Number(
        (await kysely.deleteFrom('accountInvitation').where('id', 'in', old).executeTakeFirst()).numDeletedRows,
      );
    },
  };
}
