import type { Demand, Limits } from '@svc/quotas';
import type { Clock } from '@svc/runtime';
import { compileOnce, publishEvents, violatesUnique } from '@svc/sql';
import type { ExpressionBuilder, Kysely, Transaction } from 'kysely';
import type { Admission } from '../domain/admission.ts';
import { clusterDriverName } from '../domain/clusters/sandbox-cluster.ts';
import { sandboxErrors } from '../errors.ts';
import type { Sandbox, SandboxChange, SandboxStatus } from '../domain/sandbox.ts';
import type {
  InsertOutcome,
  RepeatedRequest,
  Restart,
  SandboxFilter,
  SandboxPage,
  SandboxPhase,
  SandboxRepository,
} from '../domain/ports.ts';
import { sandboxQuotas } from '../quotas.ts';
import { SANDBOX_CHANNEL, sandboxEventId } from './channels.ts';
import { pageCursor, parseCursor } from './page-cursor.ts';
import { writeEvents } from './event-log.ts';
import { breachIn, enterGate } from './quota-usage.ts';
import { assertVolumesFree, findMounters } from './volume-repository.ts';
import { fromRow, parseCluster, parseRules, toRow } from './sandbox-row.ts';
import { placeOf, recordChange, updateSandbox } from './update-sandbox.ts';
import { SANDBOX_NAME, type SandboxTables } from './tables.ts';

export interface RepositoryDeps {
  clock: Pick<Clock, 'now'>;
}

/** Creates the repository. It records events in the transaction of the change. */
export function createSandboxRepository(kysely: Kysely<SandboxTables>, deps: RepositoryDeps): SandboxRepository {
  const visible = () => kysely.selectFrom('sandbox').selectAll().where('removed_at', 'is', null);
  const findRow = compileOnce(kysely, (id) => visible().where('id', '=', id));
  return {
    async insert(sandbox, admission, repeated) {
      return kysely.transaction().execute((transaction) => insert(transaction, sandbox, admission, repeated));
    },

    async find(id) {
      const [row] = await findRow(id);
      return row === undefined ? null : fromRow(row);
    },

    list: (workspaceUuid, filter) => list(kysely, workspaceUuid, filter),

    async change(id, from, change, node) {
      const silent = change.status === 'creating' || (change.status === undefined && change.pausedAt === undefined);
      const fence = node === undefined ? {} : { node };
      if (silent && change.labels === undefined) return updateSandbox(kysely, id, from, change, fence);
      return kysely.transaction().execute(async (transaction) => {
        const sandbox = await updateSandbox(transaction, id, from, change, fence);
        if (sandbox === null) return null;
        if (change.labels !== undefined) await replaceLabels(transaction, sandbox);
        if (!silent) await recordChange(transaction, change, sandbox, deps.clock.now());
        return sandbox;
      });
    },

    restart: (id, from, change, limits) =>
      kysely.transaction().execute((transaction) => restart(transaction, id, from, change, limits)),

    async touch(id, at) {
      await kysely
        .updateTable('sandbox')
        .set({ last_activity_at: at })
        .where('id', '=', id)
        .where('last_activity_at', '<', at)
        .execute();
    },

    async remove(id, at) {
      const workspaceUuid = await kysely.transaction().execute((transaction) => remove(transaction, id, at));
      return workspaceUuid !== null;
    },

    async removed(node) {
      const rows = await kysely
        .selectFrom('sandbox')
        .select(['id', 'workspace_uuid', 'cluster'])
        .where('node', '=', node)
        .where('removed_at', 'is not', null)
        .execute();
      return rows.map(({ id, workspace_uuid: workspaceUuid, cluster }) => {
        return { id, workspaceUuid, cluster: parseCluster(cluster) };
      });
    },

    async purge(id) {
      await kysely.deleteFrom('sandbox').where('id', '=', id).where('removed_at', 'is not', null).execute();
    },

    async ofNode(node, states) {
      const rows = await visible()
        .where('node', '=', node)
        .where('status', 'in', [...states])
        .execute();
      return rows.map(fromRow);
    },

    async ofOtherClusters(node, states, clusterIds) {
      let query = visible().where('node', '=', node).where('cluster', 'is not', null);
      if (clusterIds.length > 0) query = query.where('driver', 'not in', clusterIds.map(clusterDriverName));
      return (await query.where('status', 'in', [...states]).execute()).map(fromRow);
    },

    async ofNodeWithRules(node) {
      return kysely
        .selectFrom('sandbox')
        .select('id')
        .where('node', '=', node)
        .where('status', '=', 'running')
        .where('removed_at', 'is', null)
        .where('egress_rules', 'is not', null)
        .execute();
    },

    async rulesOf(ids) {
      const rows = await kysely
        .selectFrom('sandbox')
        .select(['id', 'egress_rules'])
        .where('id', 'in', [...ids])
        .where('status', 'in', ['creating', 'running'])
        .where('removed_at', 'is', null)
        .execute();
      return new Map(rows.map(({ id, egress_rules: rules }) => [id, parseRules(rules)]));
    },

    ofWorkspace: (workspaceUuid, state) => count(kysely, workspaceUuid, state),

    async purgeRepeated(before) {
      await kysely.deleteFrom('sandbox_idempotency').where('created_at', '<', before).execute();
    },

    mounters: (volumeIds) => findMounters(kysely, volumeIds),
    mountsBucket: (workspaceUuid, bucketId) => mountsBucket(kysely, workspaceUuid, bucketId),
  };
}

async function count(
  kysely: Kysely<SandboxTables>,
  workspaceUuid: string,
  state: Parameters<SandboxRepository['ofWorkspace']>[1],
): Promise<number> {
  const query = kysely
    .selectFrom('sandbox')
    .select((select) => select.fn.countAll().as('rows'))
    .where('workspace_uuid', '=', workspaceUuid)
    .where('removed_at', 'is', null);
  const running = query.where('status', '=', 'running').where('paused_at', state === 'paused' ? 'is not' : 'is', null);
  const row = await (state === undefined ? query : running).executeTakeFirst();
  return Number(row?.rows ?? 0);
}

/** Mounts are JSON, in which another field or the end follows the id. */
async function mountsBucket(kysely: Kysely<SandboxTables>, workspaceUuid: string, bucketId: number): Promise<boolean> {
  const row = await kysely
    .selectFrom('sandbox')
    .select('id')
    .where('workspace_uuid', '=', workspaceUuid)
    .where('removed_at', 'is', null)
    .where(({ eb, or }) => or([',', '}'].map((next) => eb('mounts', 'like', `%"bucketId":${bucketId}${next}%`))))
    .executeTakeFirst();
  return row !== undefined;
}

async function insert(
  transaction: Transaction<SandboxTables>,
  sandbox: Sandbox,
  admission: Admission,
  repeated: RepeatedRequest | null,
): Promise<InsertOutcome> {
  const { ownerId, workspaceUuid } = sandbox;
  await enterGate(transaction, admission.limits, admission.accountableId);
  const earlier = repeated === null ? null : await findRepeated(transaction, workspaceUuid, ownerId, repeated);
  const refusal =
    earlier ?? (await quotaRefusal(transaction, sandbox, admission)) ?? (await nameRefusal(transaction, sandbox));
  if (refusal !== null) return refusal;
  await assertVolumesFree(transaction, sandbox);
  // Another caller may take the name since the check; the constraint decides.
  await transaction
    .insertInto('sandbox')
    .values(toRow(sandbox, admission.accountableId))
    .execute()
    .catch(asNameTaken(sandbox.name));
  await insertParts(transaction, sandbox);
  if (repeated !== null) {
    await transaction
      .insertInto('sandbox_idempotency')
      .values({
        workspace_uuid: workspaceUuid,
        owner_id: ownerId,
        key: repeated.key,
        request_hash: repeated.requestHash,
        sandbox_id: sandbox.id,
        created_at: sandbox.createdAt,
      })
      .execute();
  }
  const details = { name: sandbox.name, image: sandbox.image };
  const place = { ...placeOf(sandbox), at: sandbox.createdAt };
  const created = { type: 'created', details, ...place } as const;
  // A warm sandbox runs immediately.
  const events =
    sandbox.status === 'running' ? [created, { type: 'running', details: {}, ...place } as const] : [created];
  await writeEvents(transaction, events);
  return { outcome: 'inserted' };
}

async function insertLabels(transaction: Transaction<SandboxTables>, { id, labels }: Sandbox): Promise<void> {
  const rows = Object.entries(labels).map(([key, value]) => ({ sandbox_id: id, key, value }));
  if (rows.length > 0) await transaction.insertInto('sandbox_label').values(rows).execute();
}

async function replaceLabels(transaction: Transaction<SandboxTables>, sandbox: Sandbox): Promise<void> {
  await transaction.deleteFrom('sandbox_label').where('sandbox_id', '=', sandbox.id).execute();
  await insertLabels(transaction, sandbox);
}

/** What is searched for by its own rows. */
async function insertParts(transaction: Transaction<SandboxTables>, sandbox: Sandbox): Promise<void> {
  const { id, volumes } = sandbox;
  await insertLabels(transaction, sandbox);
  const mounts = volumes.map(({ volumeId, readOnly }) => ({
    sandbox_id: id,
    volume_id: volumeId,
    read_only: readOnly ? 1 : 0,
  }));
  if (mounts.length > 0) await transaction.insertInto('sandbox_volume_mount').values(mounts).execute();
}

/** Runs behind the gate: meanwhile, no replica adds anything for the caller, the workspace or its owner. */
async function quotaRefusal(
  transaction: Transaction<SandboxTables>,
  { resources }: Sandbox,
  { accountableId, callerLimit, limits }: Admission,
): Promise<InsertOutcome | null> {
  if (callerLimit !== null) {
    const row = await transaction
      .selectFrom('sandbox')
      .select((select) => select.fn.countAll().as('rows'))
      .where('accountable_id', '=', accountableId)
      .where('removed_at', 'is', null)
      .executeTakeFirst();
    const current = Number(row?.rows ?? 0);
    if (current >= callerLimit) return { outcome: 'refused', refusal: { by: 'caller', current } };
  }
  const { sandboxes, sandbox_disk: disk } = sandboxQuotas;
  const breach = await breachIn(transaction, limits, [
    [sandboxes, 1],
    ...activeDemand(resources),
    [disk, resources.diskMb],
  ]);
  return breach === null ? null : { outcome: 'refused', refusal: { by: 'quota', breach } };
}

/** Demand of a sandbox while it starts or runs. */
export function activeDemand({ cpuMillis, memoryMb }: Sandbox['resources']): Demand {
  const { sandbox_cpus: cpus, sandbox_memory: memory } = sandboxQuotas;
  return [
    [cpus, cpuMillis / 1000],
    [memory, memoryMb],
  ];
}

async function restart(
  transaction: Transaction<SandboxTables>,
  id: string,
  from: readonly SandboxStatus[],
  change: SandboxChange,
  limits: Limits,
): Promise<Restart> {
  await enterGate(transaction, limits);
  const row = await transaction
    .selectFrom('sandbox')
    .selectAll()
    .where('id', '=', id)
    .where('status', 'in', [...from])
    .where('removed_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return { sandbox: null };
  const stopped = fromRow(row);
  const breach = await breachIn(transaction, limits, activeDemand(stopped.resources));
  if (breach !== null) return { breach };
  await assertVolumesFree(transaction, stopped);
  const sandbox = await updateSandbox(transaction, id, from, change, {});
  if (sandbox !== null) await publishEvents(transaction, SANDBOX_CHANNEL, [sandboxEventId(placeOf(sandbox))]);
  return { sandbox };
}

async function findRepeated(
  transaction: Transaction<SandboxTables>,
  workspaceUuid: string,
  ownerId: string,
  repeated: RepeatedRequest,
): Promise<InsertOutcome | null> {
  const row = await transaction
    .selectFrom('sandbox_idempotency')
    .selectAll()
    .where('workspace_uuid', '=', workspaceUuid)
    .where('owner_id', '=', ownerId)
    .where('key', '=', repeated.key)
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    outcome: 'repeated',
    sandboxId: row.sandbox_id,
    sameRequest: row.request_hash === repeated.requestHash,
  };
}

async function nameRefusal(transaction: Transaction<SandboxTables>, sandbox: Sandbox): Promise<InsertOutcome | null> {
  const taken = await transaction
    .selectFrom('sandbox')
    .select('id')
    .where('workspace_uuid', '=', sandbox.workspaceUuid)
    .where('taken_name', '=', sandbox.name)
    .executeTakeFirst();
  return taken === undefined ? null : { outcome: 'name_taken' };
}

function asNameTaken(name: string): (error: unknown) => never {
  return (error) => {
    if (violatesUnique(error, SANDBOX_NAME))
      throw sandboxErrors.NAME_TAKEN({ details: { field: 'name', name }, cause: error });
    throw error;
  };
}

/** Returns the workspace, or null if it was already removed. */
async function remove(transaction: Transaction<SandboxTables>, id: string, at: string): Promise<string | null> {
  const row = await transaction
    .updateTable('sandbox')
    .set({ removed_at: at, taken_name: null })
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .returning(['workspace_uuid', 'name'])
    .executeTakeFirst();
  if (row === undefined) return null;
  const place = { sandboxId: id, workspaceUuid: row.workspace_uuid };
  await writeEvents(transaction, [{ type: 'deleted', details: { name: row.name }, ...place, at }]);
  return row.workspace_uuid;
}

type Where = ExpressionBuilder<SandboxTables, 'sandbox'>;

function isInPhase(where: Where, phase: SandboxPhase, asOf: string | undefined) {
  const runs = where.and([where('status', 'in', ['creating', 'running']), where('paused_at', 'is', null)]);
  const active = asOf === undefined ? runs : where.and([runs, isUnexpired(where, asOf)]);
  if (phase === 'active') return active;
  return where.and([where('status', '!=', 'error'), where.not(active)]);
}

function isUnexpired(where: Where, asOf: string) {
  return where.or([where('expires_at', 'is', null), where('expires_at', '>', asOf)]);
}

async function list(kysely: Kysely<SandboxTables>, workspaceUuid: string, filter: SandboxFilter): Promise<SandboxPage> {
  let query = kysely
    .selectFrom('sandbox')
    .selectAll()
    .where('workspace_uuid', '=', workspaceUuid)
    .where('removed_at', 'is', null)
    .orderBy('created_at', filter.oldestFirst === true ? 'asc' : 'desc')
    .orderBy('id', filter.oldestFirst === true ? 'asc' : 'desc')
    .limit(filter.pageSize + 1);
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  if (filter.name !== undefined) query = query.where('name', '=', filter.name);
  if (filter.image !== undefined) query = query.where('image', '=', filter.image);
  const { phases, startedSince, asOf } = filter;
  if (phases !== undefined)
    query = query.where((where) => where.or(phases.map((phase) => isInPhase(where, phase, asOf))));
  if (startedSince !== undefined) query = query.where('started_at', '>=', startedSince);
  if (asOf !== undefined) {
    query = query.where((where) => where.or([where('on_expiry', '!=', 'delete'), isUnexpired(where, asOf)]));
  }
  for (const [key, value] of Object.entries(filter.labels)) {
    query = query.where('id', 'in', (select) =>
      select.selectFrom('sandbox_label').select('sandbox_id').where('key', '=', key).where('value', '=', value),
    );
  }
  const after = filter.cursor === null ? null : parseCursor(filter.cursor);
  if (after !== null) {
    const beyond = filter.oldestFirst === true ? '>' : '<';
    query = query.where((where) =>
      where.or([
        where('created_at', beyond, after.createdAt),
        where.and([where('created_at', '=', after.createdAt), where('id', beyond, after.id)]),
      ]),
    );
  }
  const rows = await query.execute();
  const sandboxes = rows.slice(0, filter.pageSize).map(fromRow);
  return { sandboxes, nextCursor: rows.length > filter.pageSize ? pageCursor(sandboxes.at(-1)) : null };
}
