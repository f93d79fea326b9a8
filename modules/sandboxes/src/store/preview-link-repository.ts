import type { GrantedAccess } from '@svc/access';
import type { Kysely } from 'kysely';
import type { PreviewLink, PreviewLinkRepository } from '../domain/preview/preview-link.ts';
import type { SandboxTables } from './tables.ts';

export function createPreviewLinkRepository(kysely: Kysely<SandboxTables>): PreviewLinkRepository {
  return {
    insert: (link, limit) =>
      kysely.transaction().execute(async (transaction) => {
        const { sandboxId, createdAt: now } = link;
        await transaction
          .deleteFrom('sandbox_preview')
          .where('sandbox_id', '=', sandboxId)
          .where('expires_at', '<=', now)
          .execute();
        const { count } = await transaction
          .selectFrom('sandbox_preview')
          .where('sandbox_id', '=', sandboxId)
          .select(({ fn }) => fn.countAll<number | string>().as('count'))
          .executeTakeFirstOrThrow();
        if (Number(count) >= limit) return false;
        const { id, port, ownerId, granted, expiresAt } = link;
        await transaction
          .insertInto('sandbox_preview')
          .values({
            id,
            sandbox_id: sandboxId,
            port,
            owner_id: ownerId,
            granted: JSON.stringify(granted),
            created_at: now,
            expires_at: expiresAt,
          })
          .execute();
        return true;
      }),
    async find(id) {
      const row = await kysely.selectFrom('sandbox_preview').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : parseLink(row);
    },
    async list(sandboxId, now) {
      const rows = await kysely
        .selectFrom('sandbox_preview')
        .selectAll()
        .where('sandbox_id', '=', sandboxId)
        .where('expires_at', '>', now)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .execute();
      return rows.map(parseLink);
    },
    async remove(sandboxId, port) {
      let query = kysely.deleteFrom('sandbox_preview').where('sandbox_id', '=', sandboxId);
      if (port !== null) query = query.where('port', '=', port);
      return (await query.returning('id').execute()).map(({ id }) => id);
    },
  };
}

function parseLink(row: SandboxTables['sandbox_preview']): PreviewLink {
  return {
    id: row.id,
    sandboxId: row.sandbox_id,
    port: row.port,
    ownerId: row.owner_id,
    granted: JSON.parse(row.granted) as GrantedAccess, // written by insert
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
