import type { Transaction } from 'kysely';
import type { Limits } from './limits.ts';

interface GateTables {
  quota_gate: { subject: string; passes: number };
}

/**
 * Locks the subjects' rows until the transaction ends, which serializes count-then-insert across replicas: two requests
 * cannot both take the last place. SQLite has one writer anyway; the rows make PostgreSQL behave the same. `realm`
 * keeps modules from blocking one another.
 */
export async function passQuotaGate<Tables>(
  transaction: Transaction<Tables>,
  realm: string,
  subjects: readonly string[],
): Promise<void> {
  const gate = transaction as unknown as Transaction<GateTables>; // all modules share one database and thus the gate
  // One statement locks its rows in their order: sorted, so that transactions with the same subjects cannot deadlock.
  const rows = [...new Set(subjects)].toSorted().map((subject) => ({ subject: `${realm}/${subject}`, passes: 1 }));
  if (rows.length === 0) return;
  await gate
    .insertInto('quota_gate')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('subject').doUpdateSet((set) => ({ passes: set('quota_gate.passes', '+', 1) })),
    )
    .execute();
}

/** Returns the workspace and its owner, the subjects of every count in a workspace. */
export function gateSubjects({ workspaceUuid, ownerId }: Limits): string[] {
  return ownerId === null ? [`workspace/${workspaceUuid}`] : [`owner/${ownerId}`, `workspace/${workspaceUuid}`];
}
