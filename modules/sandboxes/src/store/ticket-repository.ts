import type { Kysely } from 'kysely';
import type { TicketRepository } from '../domain/ports.ts';
import type { SandboxTables } from './tables.ts';

export function createTicketRepository(kysely: Kysely<SandboxTables>): TicketRepository {
  return {
    async insert({ hash, sandboxId, ownerId, expiresAt }) {
      await kysely
        .insertInto('sandbox_ticket')
        .values({ hash, sandbox_id: sandboxId, owner_id: ownerId, expires_at: expiresAt })
        .execute();
    },
    async take(hash, now) {
      const row = await kysely.deleteFrom('sandbox_ticket').where('hash', '=', hash).returningAll().executeTakeFirst();
      if (row === undefined || row.expires_at <= now) return null;
      return { sandboxId: row.sandbox_id, ownerId: row.owner_id };
    },
    async purge(before) {
      await kysely.deleteFrom('sandbox_ticket').where('expires_at', '<=', before).execute();
    },
  };
}
