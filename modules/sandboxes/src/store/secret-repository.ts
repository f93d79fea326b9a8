import type { WrappedKey } from '@svc/keys';
import { violatesUnique } from '@svc/sql';
import { sql, type Kysely } from 'kysely';
import { quotaExceeded } from '../domain/admission.ts';
import type { SealedSecret, Secret, SecretRepository } from '../domain/secrets/secret.ts';
import { sandboxErrors } from '../errors.ts';
import { sandboxQuotas } from '../quotas.ts';
import { breachIn, enterGate } from './quota-usage.ts';
import { SECRET_NAME, type SandboxTables, type SecretRow } from './tables.ts';

const METADATA = ['id', 'workspace_uuid', 'name', 'version', 'creator_id', 'created_at', 'updated_at'] as const;

export function createSecretRepository(kysely: Kysely<SandboxTables>): SecretRepository {
  const metadata = () => kysely.selectFrom('workspace_secret').select(METADATA).orderBy('name');
  return {
    async insert(given, limits) {
      await kysely.transaction().execute(async (transaction) => {
        await enterGate(transaction, limits);
        const breach = await breachIn(transaction, limits, [[sandboxQuotas.secrets, 1]]);
        if (breach !== null) throw quotaExceeded(breach);
        await transaction
          .insertInto('workspace_secret')
          .values(toRow(given))
          .execute()
          .catch(asTaken(given.secret.name));
      });
    },

    async list(workspaceUuid) {
      return (await metadata().where('workspace_uuid', '=', workspaceUuid).execute()).map(fromRow);
    },

    async find(workspaceUuid, name) {
      const row = await metadata()
        .where('workspace_uuid', '=', workspaceUuid)
        .where('name', '=', name)
        .executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },

    async sealed(workspaceUuid, names) {
      if (names.length === 0) return [];
      const rows = await kysely
        .selectFrom('workspace_secret')
        .selectAll()
        .where('workspace_uuid', '=', workspaceUuid)
        .where('name', 'in', [...names])
        .execute();
      return rows.map((row) => ({ secret: fromRow(row), sealed: { wrapper: row.wrapper, text: row.box } }));
    },

    async versions(workspaceUuids, names) {
      if (workspaceUuids.length === 0 || names.length === 0) return [];
      const rows = await metadata()
        .where('workspace_uuid', 'in', [...workspaceUuids])
        .where('name', 'in', [...names])
        .execute();
      return rows.map(fromRow);
    },

    async replace(id, { wrapper, text }: WrappedKey, updatedAt) {
      const row = await kysely
        .updateTable('workspace_secret')
        .set({ wrapper, box: text, updated_at: updatedAt, version: sql<number>`version + 1` })
        .where('id', '=', id)
        .returning(METADATA)
        .executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },

    async remove(workspaceUuid, name) {
      const rows = await kysely
        .deleteFrom('workspace_secret')
        .where('workspace_uuid', '=', workspaceUuid)
        .where('name', '=', name)
        .returning('id')
        .execute();
      return rows.length > 0;
    },

    async count(workspaceUuid) {
      const { count } = await kysely
        .selectFrom('workspace_secret')
        .where('workspace_uuid', '=', workspaceUuid)
        .select(({ fn }) => fn.countAll<number | string>().as('count'))
        .executeTakeFirstOrThrow();
      return Number(count);
    },
  };
}

function toRow({ secret, sealed }: SealedSecret): SecretRow {
  return {
    id: secret.id,
    workspace_uuid: secret.workspaceUuid,
    name: secret.name,
    version: secret.version,
    wrapper: sealed.wrapper,
    box: sealed.text,
    creator_id: secret.creatorId,
    created_at: secret.createdAt,
    updated_at: secret.updatedAt,
  };
}

function fromRow(row: Pick<SecretRow, (typeof METADATA)[number]>): Secret {
  return {
    id: row.id,
    workspaceUuid: row.workspace_uuid,
    name: row.name,
    version: row.version,
    creatorId: row.creator_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function asTaken(name: string): (error: unknown) => never {
  return (error) => {
    if (violatesUnique(error, SECRET_NAME)) throw sandboxErrors.SECRET_EXISTS({ details: { name }, cause: error });
    throw error;
  };
}
