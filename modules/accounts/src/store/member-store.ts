import type { Kysely } from 'kysely';
import type { MemberStore } from '../domain/stores.ts';
import { isAfter } from './keyset.ts';
import type { AccountTables } from './tables.ts';

export function createMemberStore(kysely: Kysely<AccountTables>): MemberStore {
  return {
    async insert(member) {
      const result = await kysely
        .insertInto('accountMember')
        .values(member)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return Number(result.numInsertedOrUpdatedRows) === 1;
    },
    get: (teamUuid, userId) =>
      kysely
        .selectFrom('accountMember')
        .selectAll()
        .where('teamUuid', '=', teamUuid)
        .where('userId', '=', userId)
        .executeTakeFirst(),
    ofTeam: (teamUuid, { after, limit }) =>
      kysely
        .selectFrom('accountMember')
        .innerJoin('accountUser', 'accountUser.id', 'accountMember.userId')
        .selectAll('accountMember')
        .select(['accountUser.email', 'accountUser.name'])
        .where('accountMember.teamUuid', '=', teamUuid)
        .where((expression) => isAfter(expression, 'accountMember.createdAt', 'accountMember.userId', after))
        .orderBy('accountMember.createdAt')
        .orderBy('accountMember.userId')
        .limit(limit + 1)
        .execute(),
    async count(teamUuid, role) {
      let query = kysely
        .selectFrom('accountMember')
        .select((expression) => expression.fn.countAll<number>().as('count'))
        .where('teamUuid', '=', teamUuid);
      if (role !== undefined) query = query.where('role', '=', role);
      return (await query.executeTakeFirstOrThrow()).count;
    },
    async setRole(teamUuid, userId, role) {
      await kysely
        .updateTable('accountMember')
        .set({ role })
        .where('teamUuid', '=', teamUuid)
        .where('userId', '=', userId)
        .execute();
    },
    async delete(teamUuid, userId) {
      await kysely.deleteFrom('accountMember').where('teamUuid', '=', teamUuid).where('userId', '=', userId).execute();
    },
  };
}
