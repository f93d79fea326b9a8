import { breachDetails } from '@svc/quotas';
import { publishEvents, violatesForeignKey, violatesUnique } from '@svc/sql';
import type { Transaction } from 'kysely';
import { OPEN_STATES, type CommandSubmission, type IdempotencyKey } from '../domain/command.ts';
import { clusterErrors } from '../errors.ts';
import { clusterQuotas } from '../quotas.ts';
import { CLUSTER_CHANNELS } from './channels.ts';
import { appendNote } from './command-notes.ts';
import { breachByOne } from './quota-usage.ts';
import { IDEMPOTENCY_KEY, type ClusterDatabase, type ClusterTables } from './tables.ts';

export interface Submitted {
  commandId: string;
  replayed: boolean;
}

/**
 * Inserts all rows of a command in one transaction. If two requests with the same key race, the second finds the first.
 */
export async function submitCommand(database: ClusterDatabase, submission: CommandSubmission): Promise<Submitted> {
  try {
    return await insertOrReplay(database, submission);
  } catch (error) {
    if (violatesForeignKey(error)) {
      throw clusterErrors.CLUSTER_NOT_FOUND({ details: { cluster: submission.command.clusterId }, cause: error });
    }
    if (!violatesUnique(error, IDEMPOTENCY_KEY)) throw error;
    return insertOrReplay(database, submission);
  }
}

function insertOrReplay(database: ClusterDatabase, submission: CommandSubmission): Promise<Submitted> {
  return database.transaction().execute(async (transaction) => {
    const first = await findReplay(transaction, submission.command.clusterId, submission.idempotency);
    if (first !== undefined) return { commandId: first, replayed: true };
    await refuseTooMany(transaction, submission);
    await supersedeQueued(transaction, submission);
    await insertRows(transaction, submission);
    await publishEvents(transaction, CLUSTER_CHANNELS.queue, [submission.command.clusterId]);
    return { commandId: submission.command.id, replayed: false };
  });
}

export async function findReplay(
  database: ClusterDatabase,
  clusterId: string,
  idempotency: IdempotencyKey | null,
): Promise<string | undefined> {
  if (idempotency === null) return undefined;
  const row = await database
    .selectFrom('cluster_idempotency')
    .select(['command_id', 'request_sha256'])
    .where('cluster_id', '=', clusterId)
    .where('key', '=', idempotency.key)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  if (row.request_sha256 !== idempotency.requestSha256) {
    throw clusterErrors.IDEMPOTENCY_CONFLICT({
      details: { field: 'Idempotency-Key', reason: 'was used with another request' },
    });
  }
  return row.command_id;
}

async function refuseTooMany(
  transaction: Transaction<ClusterTables>,
  { command, maxOpenCommands, limits }: CommandSubmission,
): Promise<void> {
  const breach = await breachByOne(transaction, limits, clusterQuotas.cluster_commands);
  if (breach !== null) {
    throw clusterErrors.QUOTA_EXCEEDED({ details: breachDetails(breach), headers: { 'retry-after': '5' } });
  }
  const { total } = await transaction
    .selectFrom('cluster_command')
    .select((select) => select.fn.countAll<number>().as('total'))
    .where('cluster_id', '=', command.clusterId)
    .where('state', 'in', OPEN_STATES)
    .executeTakeFirstOrThrow();
  if (Number(total) < maxOpenCommands) return;
  throw clusterErrors.TOO_MANY_COMMANDS({ details: { limit: maxOpenCommands }, headers: { 'retry-after': '5' } });
}

async function supersedeQueued(
  transaction: Transaction<ClusterTables>,
  { command, deployment }: CommandSubmission,
): Promise<void> {
  if (deployment === null || deployment.dryRun) return;
  const rows = await transaction
    .selectFrom('cluster_deployment')
    .innerJoin('cluster_command', 'cluster_command.id', 'cluster_deployment.command_id')
    .select('cluster_command.id')
    .where('cluster_deployment.cluster_id', '=', command.clusterId)
    .where('project_id', '=', deployment.projectId)
    .where('namespace', '=', deployment.namespace)
    .where('dry_run', '=', 0)
    .where('state', '=', 'queued')
    .execute();
  const error = { code: 'CANCELLED', message: 'Superseded by a newer deployment of the project' };
  for (const { id } of rows) {
    const { numUpdatedRows } = await transaction
      .updateTable('cluster_command')
      .set({ state: 'superseded', finished_at: command.createdAt, error: JSON.stringify(error) })
      .where('id', '=', id)
      .where('state', '=', 'queued')
      .executeTakeFirst();
    if (numUpdatedRows === 0n) continue;
    await appendNote(transaction, id, 'result', { status: 'superseded' }, command.createdAt);
  }
}

async function insertRows(
  transaction: Transaction<ClusterTables>,
  { command, deployment, idempotency }: CommandSubmission,
): Promise<void> {
  await transaction
    .insertInto('cluster_command')
    .values({
      id: command.id,
      cluster_id: command.clusterId,
      kind: command.kind,
      state: 'queued',
      payload: JSON.stringify(command.payload),
      created_by: JSON.stringify(command.createdBy),
      created_at: command.createdAt,
      timeout_ms: command.timeoutMs,
      deadline_at: command.deadlineAt,
      sent_count: 0,
      output_bytes: 0,
      note_sequence: 0,
      progress_sequence: -1,
      output_sequence: -1,
    })
    .execute();
  await appendNote(transaction, command.id, 'state', { state: 'queued' }, command.createdAt);
  if (deployment !== null) {
    await transaction
      .insertInto('cluster_deployment')
      .values({
        id: deployment.id,
        cluster_id: command.clusterId,
        command_id: command.id,
        project_id: deployment.projectId,
        namespace: deployment.namespace,
        manifest_sha256: deployment.manifestSha256,
        dry_run: deployment.dryRun ? 1 : 0,
        created_at: command.createdAt,
      })
      .execute();
  }
  if (idempotency !== null) {
    await transaction
      .insertInto('cluster_idempotency')
      .values({
        cluster_id: command.clusterId,
        key: idempotency.key,
        request_sha256: idempotency.requestSha256,
        command_id: command.id,
        created_at: command.createdAt,
      })
      .execute();
  }
}
