import type { Kysely } from 'kysely';
import type { QuotaOverrideStore } from '../domain/stores.ts';
import type { AccountTables } from './tables.ts';

export function createQuotaOverrideStore(kysely: Kysely<AccountTables>): QuotaOverrideStore {
  return {
    ofSubject: (scope, subject) =>
      kysely
        .selectFrom('accountQuotaOverride')
        .selectAll()
        .where('scope', '=', scope)
        .where('subject', '=', subject)
        .execute(),
    list: (limit) =>
      kysely
        .selectFrom('accountQuotaOverride')
        .selectAll()
        .orderBy('scope')
        .orderBy('subject')
        .orderBy('quota')
        .limit(limit)
        .execute(),
    async put(override) {
      const { amount, updatedAt } = override;
      await kysely
        .insertInto('accountQuotaOverride')
        .values(override)
        .onConflict((conflict) => conflict.columns(['scope', 'subject', 'quota']).doUpdateSet({ amount, updatedAt }))
        .execute();
    },
    async delete(scope, subject, quota) {
      const { numDeletedRows } = await kysely
        .deleteFrom('accountQuotaOverride')
        .where('scope', '=', scope)
        .where('subject', '=', subject)
        .where('quota', '=', quota)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
    async deleteOfSubject(scope, subject) {
      await kysely
        .deleteFrom('accountQuotaOverride')
        .where('scope', '=', scope)
        .where('subject', '=', subject)
        .execute();
    },
  };
}
