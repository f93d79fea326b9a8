import { fieldAt, isStatusError, referenceOf, type KubeClient, type KubeObject } from '@svc/kube';
import type { Faults } from '../deploy/faults.ts';
import type { PlannedObject } from '../deploy/plan.ts';
import { markForProject } from '../deploy/project-marks.ts';
import { autoScaleWish, containersWithoutRequests, type AutoScaleWish } from './annotations.ts';
import { metricsAreServed } from './possibility.ts';

export interface AutoScaleRequest {
  client: Pick<KubeClient, 'get' | 'list' | 'raw'>;
  planned: readonly PlannedObject[];
  projectId: string;
  keyPrefix: string;
  fieldManager: string;
  /**
   * Faults of the manifest so far; together with those of the annotations they end the deploy before the cluster is
   * asked.
   */
  faults: Faults;
  signal: AbortSignal;
}

/** A workload that requested autoscaling and does not get it. */
export interface SkippedAutoScale {
  workload: KubeObject;
  reason: string;
}

export interface AutoScalePlan {
  /** The objects of the manifest, with autoscalers added and the replicas that those control removed. */
  planned: PlannedObject[];
  skipped: SkippedAutoScale[];
}

export const AUTOSCALER = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' } as const;

/**
 * Plans an autoscaler for each workload that requests one. Checks all annotations first, then the cluster: metrics are
 * served, CPU is requested, and no other autoscaler targets the workload.
 */
export async function planAutoScale(request: AutoScaleRequest): Promise<AutoScalePlan> {
  const { planned, keyPrefix, faults } = request;
  const wishes = new Map<PlannedObject, AutoScaleWish>();
  for (const each of planned) {
    const wish = faults.try(() => autoScaleWish(each.object, each.field, keyPrefix));
    if (wish !== null && wish !== undefined) wishes.set(each, wish);
  }
  faults.assertNone();
  const plan: AutoScalePlan = { planned: [], skipped: [] };
  const known = createKnownAutoscalers(request);
  for (const each of planned) {
    const wish = wishes.get(each);
    const looked = wish === undefined ? await lookForOld(request, known, each) : await look(request, known, each);
    const reason = wish === undefined ? null : await obstacle(request, each, looked);
    if (wish === undefined || reason !== null) {
      // If it has an autoscaler of ours, this deploy removes it and the manifest's replicas apply again.
      plan.planned.push(looked.own === null ? each : { ...each, takesReplicas: true });
      if (reason !== null) plan.skipped.push({ workload: each.object, reason });
      continue;
    }
    const scaled = { ...each, object: withoutReplicas(each.object), keepsReplicas: looked.ownsReplicas };
    plan.planned.push(scaled, autoscalerFor(request, scaled, wish, looked.live));
  }
  return plan;
}

interface Look {
  /** The live workload; null if it is new. */
  live: KubeObject | null;
  /** Our autoscaler from an earlier deploy. */
  own: KubeObject | null;
  /** An autoscaler that is not ours. */
  foreign: KubeObject | null;
  /** Our last apply set the replicas: omitting them now would reset them to 1. */
  ownsReplicas: boolean;
}

const NOTHING: Look = { live: null, own: null, foreign: null, ownsReplicas: false };

/** The autoscalers of a namespace, listed once for all workloads of a manifest. */
type KnownAutoscalers = (namespace: string) => Promise<readonly KubeObject[]>;

function createKnownAutoscalers({ client, signal }: AutoScaleRequest): KnownAutoscalers {
  const listed = new Map<string, Promise<readonly KubeObject[]>>();
  const list = async (namespace: string): Promise<readonly KubeObject[]> => {
    const found: KubeObject[] = [];
    for await (const page of client.list(AUTOSCALER, { namespace, signal })) found.push(...page.items);
    return found;
  };
  return (namespace) => {
    const known = listed.get(namespace) ?? list(namespace);
    listed.set(namespace, known);
    return known;
  };
}

async function lookForOld(
  request: AutoScaleRequest,
  known: KnownAutoscalers,
  { object }: PlannedObject,
): Promise<Look> {
  if (object.kind !== 'Deployment' && object.kind !== 'StatefulSet') return NOTHING;
  try {
    return await lookAtAutoscalers(request, known, object, null);
  } catch (error) {
    request.signal.throwIfAborted();
    if (isStatusError(error)) return NOTHING; // an agent that may not read autoscalers never created one
    throw error;
  }
}

async function look(request: AutoScaleRequest, known: KnownAutoscalers, { object }: PlannedObject): Promise<Look> {
  const live = await request.client.get(referenceOf(object), request.signal);
  return lookAtAutoscalers(request, known, object, live);
}

async function lookAtAutoscalers(
  { keyPrefix, projectId, fieldManager }: AutoScaleRequest,
  known: KnownAutoscalers,
  object: KubeObject,
  live: KubeObject | null,
): Promise<Look> {
  const found: Look = { live, own: null, foreign: null, ownsReplicas: ownsReplicas(live, fieldManager) };
  for (const autoscaler of await known(object.metadata.namespace ?? '')) {
    const target = fieldAt(autoscaler, 'spec', 'scaleTargetRef');
    if (fieldAt(target, 'kind') !== object.kind || fieldAt(target, 'name') !== object.metadata.name) continue;
    const { labels = {} } = autoscaler.metadata;
    const ours = labels[`${keyPrefix}/auto-scale`] === 'true' && labels[`${keyPrefix}/project`] === projectId;
    if (ours) found.own = autoscaler;
    else found.foreign = autoscaler;
  }
  return found;
}

async function obstacle(request: AutoScaleRequest, each: PlannedObject, looked: Look): Promise<string | null> {
  const { client, planned, signal } = request;
  const { kind, metadata } = each.object;
  const inManifest = planned.find(
    ({ object }) =>
      object.kind === AUTOSCALER.kind &&
      fieldAt(object, 'spec', 'scaleTargetRef', 'kind') === kind &&
      fieldAt(object, 'spec', 'scaleTargetRef', 'name') === metadata.name,
  );
  const other = inManifest?.object ?? looked.foreign;
  if (other !== null) return `HorizontalPodAutoscaler ${other.metadata.name} scales it already`;
  const without = containersWithoutRequests(each.object);
  if (without.length > 0) return `no cpu is requested by ${without.join(', ')}`;
  // Keep an existing autoscaler: a short outage of the metrics is no reason to remove it.
  if (looked.own !== null || (await metricsAreServed(client, signal))) return null;
  return 'the cluster serves no metrics (metrics.k8s.io)';
}

function autoscalerFor(
  { keyPrefix, projectId }: AutoScaleRequest,
  owner: PlannedObject,
  wish: AutoScaleWish,
  live: KubeObject | null,
): PlannedObject {
  const { apiVersion, kind, metadata } = owner.object;
  const { name, namespace } = metadata;
  const utilization = { type: 'Utilization', averageUtilization: wish.targetCpu };
  const object: KubeObject = {
    ...AUTOSCALER,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { [`${keyPrefix}/auto-scale`]: 'true' },
    },
    spec: {
      scaleTargetRef: { apiVersion, kind, name },
      minReplicas: wish.minReplicas,
      maxReplicas: wish.maxReplicas,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: utilization } }],
    },
  };
  const marked = markForProject(object, projectId, keyPrefix);
  return {
    object: live === null ? marked : ownedBy(marked, live),
    field: owner.field,
    namespaced: true,
    dependsOnManifest: owner.dependsOnManifest,
    ownerKind: kind,
  };
}

/** Ties the object to its workload, so that deleting the workload deletes it too. */
export function ownedBy(object: KubeObject, owner: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = owner;
  const reference = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true };
  return { ...object, metadata: { ...object.metadata, ownerReferences: [reference] } };
}

function withoutReplicas(object: KubeObject): KubeObject {
  const { replicas: _replicas, ...spec } = Object(object['spec']) as Record<string, unknown>; // checked in plan.ts
  return { ...object, spec };
}

function ownsReplicas(live: KubeObject | null, fieldManager: string): boolean {
  return (live?.metadata.managedFields ?? []).some(
    ({ manager, operation, fieldsV1 }) =>
      manager === fieldManager && operation === 'Apply' && fieldAt(fieldsV1, 'f:spec', 'f:replicas') !== undefined,
  );
}
