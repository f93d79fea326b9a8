import type { Pipeline, PipelineResult, Pipelines } from '@svc/sql';
import type { ChainPoint } from '../domain/audit/audit-link.ts';
import type { AuditRecord } from '../domain/records.ts';
import type { LinkRows } from '../domain/stores.ts';
import { KEY_ID } from './audit-chain-store.ts';

/** As `AuditChainStore.lockHead` locks: replicas of all versions exclude one another by the row of the key. */
const LOCK = 'update account_audit_key set id = $1 where id = $1';
/** A statement of its own: one that also waited for the lock would see the head from before the wait. */
const HEAD = 'select sequence, mac from account_audit_end where name = $1';
const SEQUENCES = `select nextval(pg_get_serial_sequence('account_audit', 'sequence')) as sequence
  from generate_series(1, cast($1 as integer))`;
const MOVE_HEAD = `insert into account_audit_end (name, sequence, mac, purged, seal) values ('head', $1, $2, $3, $4)
  on conflict (name) do update
  set sequence = excluded.sequence, mac = excluded.mac, purged = excluded.purged, seal = excluded.seal`;

/** Columns of a row, and where their values come from. */
const COLUMNS: readonly (readonly [column: string, value: (record: AuditRecord) => unknown])[] = [
  ['sequence', ({ sequence }) => sequence],
  ['occurred_at', ({ occurredAt }) => occurredAt],
  ['actor_kind', ({ actorKind }) => actorKind],
  ['actor_id', ({ actorId }) => actorId],
  ['actor_name', ({ actorName }) => actorName],
  ['credential', ({ credential }) => credential],
  ['credential_id', ({ credentialId }) => credentialId],
  ['action', ({ action }) => action],
  ['resource', ({ resource }) => resource],
  ['workspace_uuid', ({ workspaceUuid }) => workspaceUuid],
  ['outcome', ({ outcome }) => outcome],
  ['status', ({ status }) => status],
  ['remote_address', ({ remoteAddress }) => remoteAddress],
  ['request_id', ({ requestId }) => requestId],
  ['details', ({ details }) => details],
  ['mac', ({ mac }) => mac],
];
const INSERT = `insert into account_audit (${COLUMNS.map(([column]) => column).join(', ')})
  values (${COLUMNS.map((_column, index) => `$${index + 1}`).join(', ')})`;

/**
 * Appends in two round trips to PostgreSQL instead of seven: every change of every caller waits for them, one after
 * another across all replicas.
 */
export async function extendChainPipelined(pipelines: Pipelines, count: number, link: LinkRows): Promise<void> {
  await pipelines.use(async (pipeline) => {
    try {
      await extend(pipeline, count, link);
    } catch (error) {
      await pipeline.query('rollback').catch(() => undefined); // the connection is lost, and its transaction with it
      throw error;
    }
  });
}

async function extend(pipeline: Pipeline, count: number, link: LinkRows): Promise<void> {
  const [, , heads, reserved] = await Promise.all([
    pipeline.query('begin'),
    pipeline.query(LOCK, [KEY_ID]),
    pipeline.query(HEAD, ['head']),
    pipeline.query(SEQUENCES, [count]),
  ]);
  const sequences = reserved.rows.map(({ sequence }) => Number(sequence)).toSorted((left, right) => left - right);
  const { records, head } = link(pointOf(heads), sequences);
  const written = records.map((record) =>
    pipeline.query(
      INSERT,
      COLUMNS.map(([, value]) => value(record)),
    ),
  );
  const moved = pipeline.query(MOVE_HEAD, [head.sequence, head.mac, head.purged, head.seal]);
  // After a failed statement the server rolls back instead, and the statement's error is the first.
  const [committed] = await Promise.all([pipeline.query('commit'), moved, ...written]);
  if (committed.command !== 'COMMIT') throw new Error(`the audit log was not written: ${committed.command}`);
}

function pointOf({ rows: [head] }: PipelineResult): ChainPoint | null {
  return head === undefined ? null : { sequence: Number(head['sequence']), mac: String(head['mac']) };
}
