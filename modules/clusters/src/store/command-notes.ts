import { publishEvents } from '@svc/sql';
import type { Kysely } from 'kysely';
import { OPEN_STATES, type CommandNote, type NoteDraft, type NoteLimits } from '../domain/command.ts';
import { CLUSTER_CHANNELS } from './channels.ts';
import type { ClusterDatabase, ClusterTables } from './tables.ts';

/** Numbers and appends a note, within the caller's transaction. */
export async function appendNote(
  database: Kysely<ClusterTables>,
  commandId: string,
  type: CommandNote['type'],
  data: Record<string, unknown>,
  at: string,
): Promise<void> {
  const { note_sequence: sequence } = await database
    .updateTable('cluster_command')
    .set((columns) => ({ note_sequence: columns('note_sequence', '+', 1) }))
    .where('id', '=', commandId)
    .returning('note_sequence')
    .executeTakeFirstOrThrow();
  await database
    .insertInto('cluster_command_note')
    .values({ command_id: commandId, sequence, type, data: JSON.stringify(data), created_at: at })
    .execute();
  await publishEvents(database, CLUSTER_CHANNELS.command, [commandId]);
}

/** Returns false for an unknown or finished command, a duplicate, or a note over the limits. */
export function addNote(
  database: ClusterDatabase,
  clusterId: string,
  id: string,
  draft: NoteDraft,
  at: string,
  limits: NoteLimits,
): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    let update = transaction
      .updateTable('cluster_command')
      .where('id', '=', id)
      .where('cluster_id', '=', clusterId)
      .where('state', 'in', OPEN_STATES)
      .where('note_sequence', '<', limits.notes);
    switch (draft.type) {
      case 'progress':
        update = update
          .set({ progress_sequence: draft.agentSequence })
          .where('progress_sequence', '<', draft.agentSequence);
        break;
      case 'output':
        update = update
          .set((columns) => ({
            output_sequence: draft.agentSequence,
            output_bytes: columns('output_bytes', '+', draft.sizeBytes),
          }))
          .where('output_sequence', '<', draft.agentSequence)
          .where('output_bytes', '<=', Math.max(0, limits.outputBytes - draft.sizeBytes));
        break;
      default:
        update = update.set((columns) => ({ note_sequence: columns.ref('note_sequence') }));
    }
    const { numUpdatedRows } = await update.executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await appendNote(transaction, id, draft.type, draft.data, at);
    return true;
  });
}

export async function readNotes(
  database: ClusterDatabase,
  commandId: string,
  afterSequence: number,
  limit: number,
): Promise<CommandNote[]> {
  const rows = await database
    .selectFrom('cluster_command_note')
    .select(['sequence', 'type', 'data', 'created_at'])
    .where('command_id', '=', commandId)
    .where('sequence', '>', afterSequence)
    .orderBy('sequence')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    sequence: row.sequence,
    type: row.type as CommandNote['type'], // only `appendNote` writes the column
    data: JSON.parse(row.data) as Record<string, unknown>,
    createdAt: row.created_at,
  }));
}
