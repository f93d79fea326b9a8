import type { Kysely } from 'kysely';
import type { IdentityStore } from '../domain/stores.ts';
import type { AccountTables } from './tables.ts';

export function createIdentityStore(kysely: Kysely<AccountTables>): IdentityStore {
  return {
    bySubject: (issuer, subject) =>
      kysely
        .selectFrom('accountIdentity')
        .selectAll()
        .where('issuer', '=', issuer)
        .where('subject', '=', subject)
        .executeTakeFirst(),
    async insert(identity) {
      const result = await kysely
        .insertInto('accountIdentity')
        .values(identity)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return Number(result.numInsertedOrUpdatedRows) === 1;
    },
  };
}
