import type { Kysely } from 'kysely';
import type { ForkCopy, ForkCopyRepository } from '../domain/snapshots/fork-copy.ts';
import type { SandboxTables } from './tables.ts';

export function createForkCopyRepository(kysely: Kysely<SandboxTables>): ForkCopyRepository {
  const select = () => kysely.selectFrom('sandbox_fork_copy').selectAll().orderBy('created_at').orderBy('id');
  return {
    async insert({ id, forkId, node, workspaceUuid, kind, name, sourceName, createdAt }) {
      await kysely
        .insertInto('sandbox_fork_copy')
        .values({
          id,
          fork_id: forkId,
          node,
          workspace_uuid: workspaceUuid,
          kind,
          name,
          source_name: sourceName,
          created_at: createdAt,
        })
        .execute();
    },
    ofFork: async (forkId) => (await select().where('fork_id', '=', forkId).execute()).map(fromRow),
    ofNode: async (node) => (await select().where('node', '=', node).execute()).map(fromRow),
    async remove(ids) {
      if (ids.length === 0) return;
      await kysely
        .deleteFrom('sandbox_fork_copy')
        .where('id', 'in', [...ids])
        .execute();
    },
  };
}

function fromRow(row: SandboxTables['sandbox_fork_copy']): ForkCopy {
  return {
    id: row.id,
    forkId: row.fork_id,
    node: row.node,
    workspaceUuid: row.workspace_uuid,
    kind: row.kind === 'bucket' ? 'bucket' : 'volume',
    name: row.name,
    sourceName: row.source_name,
    createdAt: row.created_at,
  };
}
