import type { GrantedAccess } from '@svc/access';
import type { Kysely } from 'kysely';
import type { TicketRepository } from '../domain/ports.ts';
import type { SandboxTables } from './tables.ts';

export function createTicketRepository(kysely: Kysely<SandboxTables>): TicketRepository {
  return {
    async insert({ hash, sandboxId, granted, expiresAt }) {
      await kysely
        .insertInto('sandbox_ticket')
        .values({
          hash,
          sandbox_id: sandboxId,
          granted: JSON.stringify(granted),
          expires_at: expiresAt,
        })
        .execute();
    },
    async take(hash, now) {
      const row = await kysely.deleteFrom('sandbox_ticket').where('hash', '=', hash).returningAll().executeTakeFirst();
      if (row === undefined || row.expires_at <= now) return null;
      const granted = JSON.parse(row.granted) as GrantedAccess; // written by insert
      return { sandboxId: row.sandbox_id, granted };
    },
    async purge(before) {
      await kysely.deleteFrom('sandbox_ticket').where('expires_at', '<=', before).execute();
    },
  };
}
