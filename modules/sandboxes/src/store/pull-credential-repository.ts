import type { Kysely } from 'kysely';
import type { PullCredential, PullCredentialRepository } from '../domain/images/pull-credentials.ts';
import type { SandboxTables } from './tables.ts';

export function createPullCredentialRepository(kysely: Kysely<SandboxTables>): PullCredentialRepository {
  return {
    async ensure(credential) {
      await kysely
        .insertInto('sandbox_pull_credential')
        .values(toRow(credential))
        .onConflict((conflict) => conflict.column('subject').doNothing())
        .execute();
      const stored = await kysely
        .selectFrom('sandbox_pull_credential')
        .selectAll()
        .where('subject', '=', credential.subject)
        .executeTakeFirstOrThrow();
      return fromRow(stored);
    },
    async replace(id, credential) {
      await kysely.updateTable('sandbox_pull_credential').set(toRow(credential)).where('id', '=', id).execute();
    },
    async find(id) {
      const query = kysely.selectFrom('sandbox_pull_credential').selectAll().where('id', '=', id);
      const row = await query.executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
    async remove(id) {
      await kysely.deleteFrom('sandbox_pull_credential').where('id', '=', id).execute();
    },
  };
}

type Row = SandboxTables['sandbox_pull_credential'];

function toRow({ id, subject, workspaceUuid, createdAt }: PullCredential): Row {
  return { id, subject, workspace_uuid: workspaceUuid, created_at: createdAt };
}

function fromRow({ id, subject, workspace_uuid: workspaceUuid, created_at: createdAt }: Row): PullCredential {
  return { id, subject, workspaceUuid, createdAt };
}
