import type { Transaction } from 'kysely';
import type { Limits } from './limits.ts';

interface GateTables {
  quota_gate: { subject: string; passes: number };
}

/**
 * Holds the rows of the subjects until the transaction ends: what counts and then inserts passes here one after the
 * other, on every replica, so that no two requests take the last place together. SQLite has one writer anyway; the rows
 * make PostgreSQL behave the same. `realm` keeps modules from waiting for one another.
 */
export async function passQuotaGate<Tables>(
  transaction: Transaction<Tables>,
  realm: string,
  subjects: readonly string[],
): Promise<void> {
  const gate = transaction as unknown as Transaction<GateTables>; // the modules share one database, and with it the gate
  // Sorted, one statement each: two transactions with the same subjects never wait for each other in a circle.
  for (const subject of [...new Set(subjects)].toSorted()) {
    await gate
      .insertInto('quota_gate')
      .values({ subject: `${realm}/${subject}`, passes: 1 })
      .onConflict((conflict) =>
        conflict.column('subject').doUpdateSet((set) => ({ passes: set('quota_gate.passes', '+', 1) })),
      )
      .execute();
  }
}

/** The workspace and its owner: what every count of a workspace passes. */
export function gateSubjects({ workspaceUuid, ownerId }: Limits): string[] {
  return ownerId === null ? [`workspace/${workspaceUuid}`] : [`owner/${ownerId}`, `workspace/${workspaceUuid}`];
}
