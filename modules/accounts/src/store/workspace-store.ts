import { compileOnce } from '@svc/sql';
import type { Kysely } from 'kysely';
import type { WorkspaceStore } from '../domain/stores.ts';
import { isAfter } from './keyset.ts';
import type { AccountTables } from './tables.ts';

export function createWorkspaceStore(kysely: Kysely<AccountTables>): WorkspaceStore {
  const oldestFirst = kysely
    .selectFrom('accountWorkspace')
    .selectAll('accountWorkspace')
    .orderBy('accountWorkspace.createdAt')
    .orderBy('accountWorkspace.uuid');
  const living = oldestFirst.where('accountWorkspace.deletingSince', 'is', null);
  const firstOwnedBy = compileOnce(kysely, (userId) => living.where('ownerId', '=', userId).limit(1));
  const byUuid = compileOnce(kysely, (uuid) =>
    kysely.selectFrom('accountWorkspace').selectAll().where('uuid', '=', uuid),
  );
  return {
    async insert(workspace) {
      await kysely.insertInto('accountWorkspace').values(workspace).execute();
    },
    byUuid: async (uuid) => (await byUuid(uuid))[0],
    firstOwnedBy: async (userId) => (await firstOwnedBy(userId))[0],
    firstOfTeam: (teamUuid) => living.where('teamUuid', '=', teamUuid).limit(1).executeTakeFirst(),
    async countOwnedBy(userId) {
      const { count } = await kysely
        .selectFrom('accountWorkspace')
        .select((expression) => expression.fn.countAll<number>().as('count'))
        .where('ownerId', '=', userId)
        .where('deletingSince', 'is', null)
        .executeTakeFirstOrThrow();
      return count;
    },
    async uuidsOwnedBy(userId) {
      const rows = await kysely.selectFrom('accountWorkspace').select('uuid').where('ownerId', '=', userId).execute();
      return rows.map(({ uuid }) => uuid).toSorted();
    },
    async isAnyOwnedByOthers(userId) {
      const other = await kysely
        .selectFrom('accountWorkspace')
        .select('uuid')
        .where('ownerId', '!=', userId)
        .limit(1)
        .executeTakeFirst();
      return other !== undefined;
    },
    stuckDeletions: (before, limit) =>
      oldestFirst.where('deletingSince', 'is not', null).where('deletingSince', '<', before).limit(limit).execute(),
    visibleTo(userId, { after, limit }, teamUuid) {
      let query = living
        .leftJoin('accountMember', (join) =>
          join
            .onRef('accountMember.teamUuid', '=', 'accountWorkspace.teamUuid')
            .on('accountMember.userId', '=', userId),
        )
        .select('accountMember.role as teamRole')
        .where((expression) =>
          expression.or([
            expression('accountWorkspace.ownerId', '=', userId),
            expression('accountMember.userId', '=', userId),
          ]),
        )
        .where((expression) => isAfter(expression, 'accountWorkspace.createdAt', 'accountWorkspace.uuid', after));
      if (teamUuid !== undefined) query = query.where('accountWorkspace.teamUuid', '=', teamUuid);
      return query.limit(limit + 1).execute();
    },
    async update(uuid, changes, now) {
      await kysely
        .updateTable('accountWorkspace')
        .set({ ...changes, updatedAt: now })
        .where('uuid', '=', uuid)
        .execute();
    },
    async lock(uuid) {
      const { numUpdatedRows } = await kysely
        .updateTable('accountWorkspace')
        .set((expression) => ({ uuid: expression.ref('uuid') }))
        .where('uuid', '=', uuid)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async reassign(teamUuid, fromUserId, toUserId, now) {
      await kysely
        .updateTable('accountWorkspace')
        .set({ ownerId: toUserId, updatedAt: now })
        .where('teamUuid', '=', teamUuid)
        .where('ownerId', '=', fromUserId)
        .execute();
    },
    async delete(uuid) {
      await kysely.deleteFrom('accountWorkspace').where('uuid', '=', uuid).execute();
    },
  };
}
