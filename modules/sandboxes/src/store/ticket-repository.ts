import type { Kysely } from 'kysely';
import type { TicketCaller, TicketRepository } from '../domain/ports.ts';
import type { SandboxTables } from './tables.ts';

export function createTicketRepository(kysely: Kysely<SandboxTables>): TicketRepository {
  return {
    async insert({ hash, sandboxId, caller, expiresAt }) {
      await kysely
        .insertInto('sandbox_ticket')
        .values({
          hash,
          sandbox_id: sandboxId,
          caller: JSON.stringify(caller),
          expires_at: expiresAt,
        })
        .execute();
    },
    async take(hash, now) {
      const row = await kysely.deleteFrom('sandbox_ticket').where('hash', '=', hash).returningAll().executeTakeFirst();
      if (row === undefined || row.expires_at <= now) return null;
      const caller = JSON.parse(row.caller) as TicketCaller; // written by insert
      return { sandboxId: row.sandbox_id, caller };
    },
    async purge(before) {
      await kysely.deleteFrom('sandbox_ticket').where('expires_at', '<=', before).execute();
    },
  };
}
