import type { Kysely, RawBuilder, Transaction } from 'kysely';
import { eventsOfChange } from '../domain/events/sandbox-event.ts';
import type { Sandbox, SandboxChange, SandboxStatus } from '../domain/sandbox.ts';
import { writeEvents } from './event-log.ts';
import { faultColumns, fromRow, rulesColumn } from './sandbox-row.ts';
import type { SandboxTables } from './tables.ts';

export function placeOf({ id, workspaceUuid }: Sandbox): { sandboxId: string; workspaceUuid: string } {
  return { sandboxId: id, workspaceUuid };
}

/** Writes the events of a change in its transaction. */
export async function recordChange(
  transaction: Transaction<SandboxTables>,
  change: SandboxChange,
  sandbox: Sandbox,
  now: Date,
): Promise<void> {
  const place = { ...placeOf(sandbox), at: now.toISOString() };
  await writeEvents(
    transaction,
    eventsOfChange(change, sandbox).map((event) => ({ ...event, ...place })),
  );
}

/** `node`: only if the sandbox is there. `unlessReported`: only if that node has not reported since. */
export async function updateSandbox(
  kysely: Kysely<SandboxTables>,
  id: string,
  from: readonly SandboxStatus[],
  change: SandboxChange & Partial<Pick<Sandbox, 'node' | 'snapshotId'>>,
  { node, unlessReported }: { readonly node?: string; readonly unlessReported?: RawBuilder<string> },
): Promise<Sandbox | null> {
  let query = kysely.updateTable('sandbox');
  if (node !== undefined) query = query.where('node', '=', node);
  if (unlessReported !== undefined) {
    query = query.where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('sandbox_node')
            .select('sandbox_node.node')
            .whereRef('sandbox_node.node', '=', 'sandbox.node')
            .where('sandbox_node.reported_at', '>', unlessReported),
        ),
      ),
    );
  }
  const row = await query
    .set({
      ...(change.status === undefined ? {} : { status: change.status, paused_at: null }),
      ...(change.node === undefined ? {} : { node: change.node }),
      ...(change.snapshotId === undefined ? {} : { snapshot_id: change.snapshotId }),
      ...(change.stateReason === undefined ? {} : { state_reason: change.stateReason }),
      ...(change.fault === undefined ? {} : faultColumns(change.fault)),
      ...(change.startedAt === undefined ? {} : { started_at: change.startedAt }),
      ...(change.lastActivityAt === undefined ? {} : { last_activity_at: change.lastActivityAt }),
      ...(change.pausedAt === undefined ? {} : { paused_at: change.pausedAt }),
      ...(change.expiresAt === undefined ? {} : { expires_at: change.expiresAt }),
      ...(change.labels === undefined ? {} : { labels: JSON.stringify(change.labels) }),
      ...(change.egressRules === undefined ? {} : { egress_rules: rulesColumn(change.egressRules) }),
      ...(change.egressAllow === undefined
        ? {}
        : { egress_allow: change.egressAllow === null ? null : JSON.stringify(change.egressAllow) }),
    })
    .where('id', '=', id)
    .where('status', 'in', [...from])
    .where('removed_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? null : fromRow(row);
}
