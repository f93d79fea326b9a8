import { referenceOf, type KubeClient, type KubeObject, type ObjectReference } from '@svc/kube';
import type { DeployCommand, ResourceResult } from '@svc/protocol';
import type { Logger } from '@svc/telemetry';
import type { Clock } from '@svc/runtime';
import type { AgentConfig } from '../config/schema.ts';
import type { ClusterEvent } from '../events/cluster-event.ts';
import { AUTOSCALER, planAutoScale } from '../autoscale/plan-auto-scale.ts';
import { autoScaleEvents, skipWarnings } from '../autoscale/report-auto-scale.ts';
import type { AppliedByDeploy } from '../drift/drift-watch.ts';
import { toMessageError } from '../commands/error-of.ts';
import type { CommandContext, CommandOutcome } from '../commands/handler.ts';
import { agentErrors } from '../errors.ts';
import {
  applyAll,
  dryRunAll,
  type AppliedObject,
  type ApplyOutcome,
  type ApplyRequest,
  type DryRunOutcome,
} from './apply.ts';
import { deployResult, failedOutcome, pruneError, readinessError, refusedOutcome } from './deploy-outcome.ts';
import { differencesBetween } from './diff.ts';
import { Faults } from './faults.ts';
import {
  inventoryStore,
  mergeEntries,
  withoutThese,
  type Inventory,
  type InventoryEntry,
  type InventoryStore,
} from './inventory.ts';
import { parseManifest } from './manifest.ts';
import { planDeploy, type PlannedObject } from './plan.ts';
import { pruneAll } from './prune.ts';
import { noteHealth, waitUntilReady, type ReadinessEnd } from './readiness.ts';
import { resourceResult } from './resource-result.ts';

export interface DeployRun {
  client: KubeClient;
  clock: Clock;
  log: Logger;
  rules: AgentConfig['deploy'];
  keyPrefix: string;
  /** Timeout for readiness; the requests of the apply have their own. */
  timeoutMs: number;
  payload: DeployCommand;
  context: CommandContext;
  report(event: ClusterEvent): void;
  /**
   * Uid of an object that drift correction recreated since the last deploy; it belongs to the project like the
   * original.
   */
  putBackUid(object: ObjectReference): string | undefined;
  /** What was applied and deleted; `whole` = the project now has no other objects. */
  applied(objects: readonly AppliedByDeploy[], whole: boolean, deleted: readonly ObjectReference[]): Promise<void>;
}

const MAX_OBJECTS = 1000;
const SECOND_RUN = 'The agent restarted during this deploy and ran it again: the actions are those of the second run';

/**
 * Validates all, dry-runs all, records the future inventory, applies in order, prunes, waits. Changes nothing before
 * every document is accepted; deletes nothing after a failed apply.
 */
export async function runDeploy(run: DeployRun): Promise<CommandOutcome> {
  const { client, context, payload, rules } = run;
  const { signal } = context;
  context.progress('validating', 'reading the manifest');
  const faults = new Faults();
  const limits = { maxDocuments: rules.max_documents, maxObjects: MAX_OBJECTS };
  const objects = parseManifest(payload.manifest, limits, faults);
  const objectsPlanned = await planDeploy({
    objects,
    projectId: payload.project_id,
    namespace: payload.namespace,
    keyPrefix: run.keyPrefix,
    rules,
    discovery: client.discovery,
    faults,
    signal,
  });
  const { planned, skipped: unscaled } = await planAutoScale({
    client,
    planned: objectsPlanned,
    projectId: payload.project_id,
    keyPrefix: run.keyPrefix,
    fieldManager: rules.field_manager,
    faults,
    signal,
  });
  const request = createApplyRequest(run);
  context.progress('dry_run', `asking the cluster about ${planned.length} objects`);
  const dryRun = await dryRunAll(request, planned);
  dryRun.warnings.push(...skipWarnings(unscaled));
  if (dryRun.failures.length > 0) return refusedOutcome(payload, planned, dryRun);
  if (payload.dry_run === true) return dryRunOutcome(run, planned, dryRun);

  const store = inventoryStore({ ...run, ...namesOf(run), fieldManager: rules.field_manager });
  const inventory = withPutBack(await store.read(signal), run);
  if (isSecondRun(inventory, context.commandId)) dryRun.warnings.push(SECOND_RUN);
  await writeUnion(run, store, inventory, planned);
  const applied = await applyAll(request, planned, dryRun.results, (done) => {
    context.progress('applying', `${done} of ${planned.length} objects`, { applied: done, total: planned.length });
  });
  for (const event of autoScaleEvents(applied.applied, unscaled, payload.project_id)) run.report(event);
  if (applied.failure !== null) {
    await run.applied(applied.applied.map(appliedOf), false, []);
    return failedOutcome(run, applied, [...dryRun.warnings, ...applied.warnings]);
  }
  return settle(run, store, inventory, applied, dryRun.warnings);
}

/** After the last apply: prunes, waits, and records the actual inventory. */
async function settle(
  run: DeployRun,
  store: InventoryStore,
  inventory: Inventory,
  { applied, warnings }: ApplyOutcome,
  earlierWarnings: readonly string[],
): Promise<CommandOutcome> {
  const { client, context, payload, rules, keyPrefix } = run;
  const { signal } = context;
  const wanted = applied.map(({ object }) => entryOf(object));
  const surplus = withoutThese(inventory.entries, wanted);
  let pruned: { results: ResourceResult[]; retained: InventoryEntry[] } = { results: [], retained: [...surplus] };
  const leaving = payload.prune === false ? surplus.filter((entry) => isOldAutoscaler(entry, applied)) : surplus;
  if (leaving.length > 0) {
    context.progress('pruning', `${leaving.length} objects are no longer in the manifest`);
    const allowedKinds = rules.prune_kinds;
    pruned = await pruneAll({ client, keyPrefix, allowedKinds, projectId: payload.project_id, signal }, leaving);
    pruned.retained.push(...withoutThese(surplus, leaving));
  }
  await store.write({ ...createInventory(run, inventory), entries: [...wanted, ...pruned.retained] }, signal);
  await run.applied(applied.map(appliedOf), payload.prune !== false, withoutThese(surplus, pruned.retained));

  const end = await waitForReadiness(run, applied);
  const resources = [...applied.map(({ result }) => result), ...pruned.results];
  const deploy = deployResult(payload, resources, [...earlierWarnings, ...warnings], false);
  if (end === 'cancelled') return { status: 'cancelled', error: toMessageError(signal.reason), deploy };
  const error = readinessError(end, applied) ?? pruneError(pruned.results);
  if (error === null) return { status: 'succeeded', deploy };
  return { status: end === 'timed_out' ? 'timed_out' : 'failed', error, deploy };
}

/** The autoscaler of a workload that no longer requests one. Deleted even without pruning, or it would keep scaling. */
function isOldAutoscaler({ kind, name, namespace }: InventoryEntry, applied: readonly AppliedObject[]): boolean {
  if (kind !== AUTOSCALER.kind) return false;
  return applied.some(
    ({ planned, object }) =>
      planned.takesReplicas === true && object.metadata.name === name && object.metadata.namespace === namespace,
  );
}

/** Everything is applied by now, so a cancelled wait still has a complete result. */
async function waitForReadiness(run: DeployRun, applied: AppliedObject[]): Promise<ReadinessEnd | 'cancelled'> {
  const { client, clock, log, context, payload, timeoutMs } = run;
  const { signal } = context;
  if (payload.wait === false) {
    noteHealth(applied);
    return 'ready';
  }
  const progress = (ready: number, waitingFor: string): void => {
    context.progress('waiting', waitingFor, { ready, total: applied.length });
  };
  try {
    return await waitUntilReady({ client, clock, log, signal, timeoutMs, progress }, applied);
  } catch (error) {
    if (signal.aborted) return 'cancelled';
    throw error;
  }
}

function createApplyRequest({ client, rules, payload, context }: DeployRun): ApplyRequest {
  const { field_manager: fieldManager } = rules;
  return { client, fieldManager, force: payload.force_conflicts ?? false, signal: context.signal };
}

function namesOf({ payload }: DeployRun): { namespace: string; projectId: string } {
  return { namespace: payload.namespace, projectId: payload.project_id };
}

/**
 * The cluster itself remembers the ids, even if the agent's folder is lost. Reapplying the newest deploy changes
 * nothing already done and finishes the rest; reapplying an older one would undo later deploys.
 */
function isSecondRun({ commandIds }: Inventory, commandId: string): boolean {
  if (!commandIds.includes(commandId)) return false;
  if (commandIds.at(-1) !== commandId) throw agentErrors.SUPERSEDED();
  return true;
}

function withPutBack(inventory: Inventory, { putBackUid }: DeployRun): Inventory {
  const entries = inventory.entries.map((entry) => {
    const uid = putBackUid(entry);
    return uid === undefined ? entry : { ...entry, uid };
  });
  return { ...inventory, entries };
}

async function writeUnion(
  run: DeployRun,
  store: InventoryStore,
  inventory: Inventory,
  planned: readonly PlannedObject[],
): Promise<void> {
  const entries = mergeEntries(
    inventory.entries,
    planned.map(({ object }) => referenceOf(object)),
  );
  await store.write({ ...createInventory(run, inventory), entries }, run.context.signal);
}

function createInventory({ payload, context }: DeployRun, old: Inventory): Inventory {
  const others = old.commandIds.filter((id) => id !== context.commandId);
  return {
    entries: old.entries,
    commandIds: [...others, context.commandId],
    ...(payload.revision === undefined ? {} : { revision: payload.revision }),
  };
}

function appliedOf({ planned, object }: AppliedObject): AppliedByDeploy {
  return { intent: planned.object, object };
}

function entryOf(object: KubeObject): InventoryEntry {
  const { uid } = object.metadata;
  return { ...referenceOf(object), ...(uid === undefined ? {} : { uid }) };
}

async function dryRunOutcome(
  run: DeployRun,
  planned: readonly PlannedObject[],
  dryRun: DryRunOutcome,
): Promise<CommandOutcome> {
  const resources: ResourceResult[] = [];
  for (const each of planned) {
    const answer = dryRun.results.get(each) ?? null;
    if (answer === null) {
      const message = 'is created by this manifest and cannot be checked before';
      resources.push(resourceResult(each.object, { action: 'created', health: 'unknown', message }));
      continue;
    }
    const before = answer.created ? null : await run.client.get(referenceOf(each.object), run.context.signal);
    const diff = differencesBetween(before, answer.object);
    const action = answer.created ? 'created' : diff.length > 0 ? 'configured' : 'unchanged';
    resources.push(resourceResult(answer.object, { action, health: 'unknown', diff }));
  }
  const store = inventoryStore({ ...run, ...namesOf(run), fieldManager: run.rules.field_manager });
  const inventory = await store.read(run.context.signal);
  if (run.payload.prune !== false) {
    const references = planned.map(({ object }) => referenceOf(object));
    for (const { apiVersion, kind, name, namespace = '' } of withoutThese(inventory.entries, references)) {
      resources.push({ api_version: apiVersion, kind, name, namespace, action: 'pruned', health: 'unknown' });
    }
  }
  return { status: 'succeeded', deploy: deployResult(run.payload, resources, dryRun.warnings, false) };
}
