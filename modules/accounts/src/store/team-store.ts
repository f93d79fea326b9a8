import type { Kysely } from 'kysely';
import type { TeamStore } from '../domain/stores.ts';
import { isAfter } from './keyset.ts';
import type { AccountTables } from './tables.ts';

export function createTeamStore(kysely: Kysely<AccountTables>): TeamStore {
  return {
    async insert(team) {
      await kysely.insertInto('accountTeam').values(team).execute();
    },
    byUuid: (uuid) => kysely.selectFrom('accountTeam').selectAll().where('uuid', '=', uuid).executeTakeFirst(),
    ofMember: (userId, { after, limit }) =>
      kysely
        .selectFrom('accountTeam')
        .innerJoin('accountMember', 'accountMember.teamUuid', 'accountTeam.uuid')
        .selectAll('accountTeam')
        .select('accountMember.role')
        .where('accountMember.userId', '=', userId)
        .where((expression) => isAfter(expression, 'accountTeam.createdAt', 'accountTeam.uuid', after))
        .orderBy('accountTeam.createdAt')
        .orderBy('accountTeam.uuid')
        .limit(limit + 1)
        .execute(),
    async countOwnedBy(userId) {
      const { count } = await kysely
        .selectFrom('accountTeam')
        .select((expression) => expression.fn.countAll<number>().as('count'))
        .where('ownerId', '=', userId)
        .executeTakeFirstOrThrow();
      return count;
    },
    async update(uuid, changes, now) {
      await kysely
        .updateTable('accountTeam')
        .set({ ...changes, updatedAt: now })
        .where('uuid', '=', uuid)
        .execute();
    },
    async lock(uuid) {
      const { numUpdatedRows } = await kysely
        .updateTable('accountTeam')
        .set((expression) => ({ uuid: expression.ref('uuid') }))
        .where('uuid', '=', uuid)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async delete(uuid) {
      await kysely.deleteFrom('accountTeam').where('uuid', '=', uuid).execute();
    },
  };
}
