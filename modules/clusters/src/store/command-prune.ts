import { OPEN_STATES } from '../domain/command.ts';
import type { ClusterDatabase } from './tables.ts';

/** Prunes crowded clusters in one statement each. Deleting a command also deletes its notes and deployment. */
export async function pruneCommands(database: ClusterDatabase, before: string, keep: number): Promise<void> {
  await database
    .deleteFrom('cluster_command')
    .where('state', 'not in', OPEN_STATES)
    .where('finished_at', '<', before)
    .execute();
  const crowded = await database
    .selectFrom('cluster_command')
    .select('cluster_id')
    .groupBy('cluster_id')
    .having((having) => having.fn.countAll(), '>', keep)
    .execute();
  for (const { cluster_id: clusterId } of crowded) {
    const oldestKept = await database
      .selectFrom('cluster_command')
      .select('created_at')
      .where('cluster_id', '=', clusterId)
      .orderBy('created_at', 'desc')
      .offset(keep - 1)
      .limit(1)
      .executeTakeFirst();
    if (oldestKept === undefined) continue;
    await database
      .deleteFrom('cluster_command')
      .where('cluster_id', '=', clusterId)
      .where('state', 'not in', OPEN_STATES)
      .where('created_at', '<', oldestKept.created_at)
      .execute();
  }
}
