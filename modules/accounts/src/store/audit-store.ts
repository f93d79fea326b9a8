import type { Kysely } from 'kysely';
import type { AuditStore } from '../domain/stores.ts';
import type { AccountTables } from './tables.ts';

export function createAuditStore(kysely: Kysely<AccountTables>): AuditStore {
  return {
    list(filter, limit, beforeSequence) {
      let query = kysely
        .selectFrom('accountAudit')
        .selectAll()
        .orderBy('sequence', 'desc')
        .limit(limit + 1);
      const { workspaceUuid, actor, action, since, concerningUserId } = filter;
      if (workspaceUuid !== undefined) query = query.where('workspaceUuid', '=', workspaceUuid);
      if (actor !== undefined) {
        query = query.where((expression) =>
          expression.or([expression('actorId', '=', actor), expression('actorName', '=', actor)]),
        );
      }
      if (action !== undefined) query = query.where('action', '=', action);
      if (since !== undefined) query = query.where('occurredAt', '>=', since);
      if (concerningUserId !== undefined) {
        query = query.where((expression) =>
          expression.or([
            expression('actorId', '=', concerningUserId),
            expression('resource', '=', `user/${concerningUserId}`),
          ]),
        );
      }
      if (beforeSequence !== null) query = query.where('sequence', '<', beforeSequence);
      return query.execute();
    },
  };
}
