import { isAppError } from '@svc/errors';
import { fieldAt, isStatusError, referenceOf, type Applied, type KubeClient, type KubeObject } from '@svc/kube';
import type { ResourceResult } from '@svc/protocol';
import { ownedBy } from '../autoscale/plan-auto-scale.ts';
import type { PlannedObject } from './plan.ts';
import { failedResource, resourceResult } from './resource-result.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCondition } from '@svc/kube/values';
import { agentErrors } from '../errors.ts';

const TIMEOUT_MS = 30_000;
const INTERVAL_MS = 250;

/** Waves: dependencies first. Unlisted kinds come after the workloads. */
const WAVES: readonly (readonly string[])[] = [
  ['Namespace'],
  ['CustomResourceDefinition'],
  [
    'ServiceAccount',
    'ClusterRole',
    'Role',
    'ClusterRoleBinding',
    'RoleBinding',
    'PriorityClass',
    'LimitRange',
    'ResourceQuota',
  ],
  ['Secret', 'ConfigMap'],
  ['StorageClass', 'PersistentVolume', 'PersistentVolumeClaim'],
  ['Service'],
  ['Pod', 'ReplicationController', 'ReplicaSet', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'],
];

/** Groups of objects to apply in sequence; within a wave, the manifest's order is kept. */
function inWaves(objects: readonly PlannedObject[]): PlannedObject[][] {
  const waves: PlannedObject[][] = Array.from({ length: WAVES.length + 1 }, () => []);
  for (const each of objects) {
    const found = WAVES.findIndex((kinds) => kinds.includes(each.object.kind));
    waves[found === -1 ? WAVES.length : found]?.push(each);
  }
  return waves.filter((wave) => wave.length > 0);
}

export interface ApplyRequest {
  client: KubeClient;
  fieldManager: string;
  force: boolean;
  signal: AbortSignal;
}

/** The dry-run result of each object; `null` if a dry run was not possible. */
export type DryRun = ReadonlyMap<PlannedObject, { object: KubeObject; created: boolean } | null>;

export interface DryRunOutcome {
  results: DryRun;
  failures: ResourceResult[];
  warnings: string[];
}

export interface AppliedObject {
  planned: PlannedObject;
  /** The live object on the server. */
  object: KubeObject;
  result: ResourceResult;
}

export interface ApplyOutcome {
  applied: AppliedObject[];
  failure: ResourceResult | null;
  /** Objects after the failure; not touched. */
  skipped: ResourceResult[];
  warnings: string[];
}

const DRY_RUNS_AT_ONCE = 4;

/** Dry-runs every object before the first one is changed: validation, admission, quotas, conflicts. */
export async function dryRunAll(request: ApplyRequest, objects: readonly PlannedObject[]): Promise<DryRunOutcome> {
  const results = new Map<PlannedObject, { object: KubeObject; created: boolean } | null>();
  const failures: ResourceResult[] = [];
  const warnings = new Set<string>();
  const waiting = [...objects];
  const work = async (): Promise<void> => {
    for (let planned = waiting.shift(); planned !== undefined; planned = waiting.shift()) {
      request.signal.throwIfAborted();
      if (planned.dependsOnManifest) {
        results.set(planned, null);
        continue;
      }
      try {
        const answer = await applyPlanned(request, planned, planned.object, true);
        results.set(planned, { object: answer.object, created: answer.created });
        for (const warning of answer.warnings) warnings.add(warning);
      } catch (error) {
        request.signal.throwIfAborted();
        failures.push(failedResource(planned.object, error, planned.field));
        // Skip the others: each would wait for its full timeout.
        if (isAppError(error) && error.code === 'KUBERNETES_UNREACHABLE') waiting.length = 0;
      }
    }
  };
  await Promise.all(Array.from({ length: DRY_RUNS_AT_ONCE }, work));
  return { results, failures, warnings: [...warnings] };
}

/** Applies wave by wave, one object at a time; stops at the first failure. `progress` receives the number done. */
export async function applyAll(
  request: ApplyRequest,
  objects: readonly PlannedObject[],
  dryRun: DryRun,
  progress: (done: number) => void,
): Promise<ApplyOutcome> {
  const outcome: ApplyOutcome = { applied: [], failure: null, skipped: [], warnings: [] };
  const warnings = new Set<string>();
  const ordered = inWaves(objects).flat();
  for (const [index, planned] of ordered.entries()) {
    try {
      request.signal.throwIfAborted();
      const applied = await applyOne(request, withOwner(planned, outcome.applied), dryRun, warnings);
      outcome.applied.push(applied);
      progress(index + 1);
    } catch (error) {
      outcome.failure = failedResource(
        planned.object,
        request.signal.aborted ? request.signal.reason : error,
        planned.field,
      );
      outcome.skipped = ordered
        .slice(index + 1)
        .map(({ object }) => resourceResult(object, { action: 'skipped', health: 'unknown' }));
      break;
    }
  }
  return { ...outcome, warnings: [...warnings] };
}

async function applyOne(
  request: ApplyRequest,
  planned: OwnedPlan,
  dryRun: DryRun,
  warnings: Set<string>,
): Promise<AppliedObject> {
  const { client, signal } = request;
  const before = dryRun.get(planned.original ?? planned)?.object.metadata.resourceVersion;
  if (planned.keepsReplicas === true) await shareReplicas(request, planned.object);
  const answer = await applyPlanned(request, planned, planned.object, false);
  for (const warning of answer.warnings) warnings.add(warning);
  if (planned.object.kind === 'CustomResourceDefinition') {
    await waitEstablished(client, planned.object.metadata.name, signal);
  }
  const unchanged = !answer.created && before !== undefined && before === answer.object.metadata.resourceVersion;
  const action = answer.created ? 'created' : unchanged ? 'unchanged' : 'configured';
  return {
    planned: planned.original ?? planned,
    object: answer.object,
    result: resourceResult(answer.object, { action, health: 'unknown' }),
  };
}

/** A plan whose object was completed with the uid of an owner applied before it. */
type OwnedPlan = PlannedObject & { original?: PlannedObject };

/** A new workload has a uid only now. */
function withOwner(planned: PlannedObject, applied: readonly AppliedObject[]): OwnedPlan {
  const { ownerKind, object } = planned;
  if (ownerKind === undefined) return planned;
  const { name, namespace } = object.metadata;
  const owner = applied.find(
    (each) =>
      each.object.kind === ownerKind &&
      each.object.metadata.name === name &&
      each.object.metadata.namespace === namespace,
  );
  return owner === undefined ? planned : { ...planned, object: ownedBy(object, owner.object), original: planned };
}

/** Takes over replicas that an autoscaler wrote. Any other conflict requires `force`. */
async function applyPlanned(
  { client, fieldManager, force, signal }: ApplyRequest,
  { takesReplicas }: PlannedObject,
  object: KubeObject,
  dryRun: boolean,
): Promise<Applied> {
  const options = { fieldManager, force, dryRun, signal };
  try {
    return await client.apply(object, options);
  } catch (error) {
    if (takesReplicas !== true || !isStatusError(error, 409)) throw error;
    const conflicts = error.causes.filter(({ reason }) => reason === 'FieldManagerConflict');
    if (conflicts.length === 0 || conflicts.some(({ field }) => field !== '.spec.replicas')) throw error;
    return client.apply(object, { ...options, force: true });
  }
}

/**
 * Omitting a field resets it to its default if the applier is its only owner: a running workload would shrink to one
 * replica. A second owner of the same value preserves it, and does not conflict with an autoscaler.
 */
async function shareReplicas({ client, fieldManager, signal }: ApplyRequest, object: KubeObject): Promise<void> {
  const live = await client.get(referenceOf(object), signal);
  const replicas = fieldAt(live, 'spec', 'replicas');
  if (live === null || typeof replicas !== 'number') return;
  const { apiVersion, kind, metadata } = object;
  const { name, namespace } = metadata;
  const only = { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
  await client.apply(
    { ...only, spec: { replicas } },
    { fieldManager: `${fieldManager}-replicas`, force: true, signal },
  );
}

/** Waits until the server serves a custom kind, before which its objects cannot be applied. */
async function waitEstablished(client: KubeClient, name: string, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  const reference = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name };
  for (;;) {
    const object = await client.get(reference, signal);
    if (hasCondition(object, 'Established')) {
      client.discovery.forget();
      return;
    }
    if (performance.now() >= deadline) {
      const reason = `the cluster does not serve ${name} after ${TIMEOUT_MS / 1000} s`;
      throw agentErrors.NOT_READY({ details: { field: name, reason } });
    }
    await delay(INTERVAL_MS, undefined, { signal });
  }
}
