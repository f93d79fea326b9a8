import { compileOnce } from '@svc/sql';
import type { Kysely } from 'kysely';
import type { ApiTokenStore, TokenHolder } from '../domain/stores.ts';
import { isAfter } from './keyset.ts';
import type { AccountTables } from './tables.ts';

export function createApiTokenStore(kysely: Kysely<AccountTables>): ApiTokenStore {
  const holders = kysely
    .selectFrom('accountApiToken')
    .innerJoin('accountUser', 'accountUser.id', 'accountApiToken.userId')
    .select(['accountUser.id', 'accountUser.name', 'accountUser.email', 'accountUser.operatorSince'])
    .select(['accountApiToken.id as tokenId', 'accountApiToken.expiresAt', 'accountApiToken.lastUsedAt'])
    .select('accountApiToken.purpose');
  const holderById = compileOnce(kysely, (id) => holders.where('accountApiToken.id', '=', id));
  const holderByHash = compileOnce(kysely, (hash) => holders.where('accountApiToken.tokenHash', '=', hash));
  return {
    async insert(token) {
      await kysely.insertInto('accountApiToken').values(token).execute();
    },
    byId: (id) => kysely.selectFrom('accountApiToken').selectAll().where('id', '=', id).executeTakeFirst(),
    byTokenHash: (hash) =>
      kysely.selectFrom('accountApiToken').selectAll().where('tokenHash', '=', hash).executeTakeFirst(),
    holderById: async (id) => holderOf(await holderById(id)),
    holderByTokenHash: async (hash) => holderOf(await holderByHash(hash)),
    ofUser: (userId, { after, limit }) =>
      kysely
        .selectFrom('accountApiToken')
        .selectAll()
        .where('userId', '=', userId)
        .where((expression) => isAfter(expression, 'createdAt', 'id', after))
        .orderBy('createdAt')
        .orderBy('id')
        .limit(limit + 1)
        .execute(),
    async countOfUser(userId) {
      const { count } = await kysely
        .selectFrom('accountApiToken')
        .select((expression) => expression.fn.countAll<number>().as('count'))
        .where('userId', '=', userId)
        .executeTakeFirstOrThrow();
      return count;
    },
    async touch(id, now) {
      await kysely.updateTable('accountApiToken').set({ lastUsedAt: now }).where('id', '=', id).execute();
    },
    async delete(userId, id) {
      const { numDeletedRows } = await kysely
        .deleteFrom('accountApiToken')
        .where('userId', '=', userId)
        .where('id', '=', id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
    async deleteByPurpose(purpose) {
      const { numDeletedRows } = await kysely
        .deleteFrom('accountApiToken')
        .where('purpose', '=', purpose)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
    async deleteExpired(before, limit) {
      const old = kysely.selectFrom('accountApiToken').select('id').where('expiresAt', '<', before).limit(limit);
      return Number(
        (await kysely.deleteFrom('accountApiToken').where('id', 'in', old).executeTakeFirst()).numDeletedRows,
      );
    },
  };
}

type HolderRow = TokenHolder['user'] & Omit<TokenHolder['token'], 'id'> & { tokenId: string };

function holderOf([row]: readonly HolderRow[]): TokenHolder | undefined {
  if (row === undefined) return undefined;
  const { tokenId, expiresAt, lastUsedAt, purpose, ...user } = row;
  return { token: { id: tokenId, expiresAt, lastUsedAt, purpose }, user };
}
