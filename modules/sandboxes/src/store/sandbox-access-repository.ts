import type { GrantedAccess } from '@svc/access';
import type { Kysely } from 'kysely';
import type { SandboxAccessRecord, SandboxAccessRepository } from '../domain/access/sandbox-access.ts';
import type { SandboxTables } from './tables.ts';

export function createSandboxAccessRepository(kysely: Kysely<SandboxTables>): SandboxAccessRepository {
  return {
    async ensure({ id, sandboxId, granted }, holder, now) {
      await kysely
        .insertInto('sandbox_access')
        .values({ id, sandbox_id: sandboxId, holder, granted: JSON.stringify(granted), created_at: now })
        .onConflict((conflict) => conflict.columns(['sandbox_id', 'holder']).doNothing())
        .execute();
      const stored = await kysely
        .selectFrom('sandbox_access')
        .select('id')
        .where('sandbox_id', '=', sandboxId)
        .where('holder', '=', holder)
        .executeTakeFirstOrThrow();
      return stored.id;
    },
    async find(id) {
      const row = await kysely.selectFrom('sandbox_access').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
    async ofSandbox(sandboxId) {
      const rows = await kysely.selectFrom('sandbox_access').selectAll().where('sandbox_id', '=', sandboxId).execute();
      return rows.map(fromRow);
    },
    async ofRunning(after, limit) {
      const rows = await kysely
        .selectFrom('sandbox_access')
        .innerJoin('sandbox', 'sandbox.id', 'sandbox_access.sandbox_id')
        .selectAll('sandbox_access')
        .where('sandbox.status', '=', 'running')
        .where('sandbox.removed_at', 'is', null)
        .where('sandbox_access.id', '>', after)
        .orderBy('sandbox_access.id')
        .limit(limit)
        .execute();
      return rows.map(fromRow);
    },
  };
}

function fromRow(row: SandboxTables['sandbox_access']): SandboxAccessRecord {
  return {
    id: row.id,
    sandboxId: row.sandbox_id,
    granted: JSON.parse(row.granted) as GrantedAccess, // written by ensure
  };
}
