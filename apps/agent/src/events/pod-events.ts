import { fieldAt, isRecord, type KubeObject } from '@svc/kube';
import { findCondition, hasCondition } from '@svc/kube/values';
import { detailsOf, type ClusterEvent } from './cluster-event.ts';

/** The in-memory part of a pod: a few hundred bytes instead of a few thousand. */
export interface KeptPod {
  namespace: string;
  name: string;
  phase: string;
  ready: boolean;
  /** Restarts when its crash loop was last reported; 0 = not in one. */
  reportCrashes: number;
  /** Image whose failed pull was reported; empty = none. */
  reportPullFailure: string;
  /** End of the last container that ran out of memory. */
  outOfMemoryAt: string;
  /** Its eviction was reported; absent in state written by older agents. */
  evicted?: boolean;
  /** Image of its first container, for events after the pod is gone; absent in state written by older agents. */
  image?: string;
  /** Absent until it is scheduled. */
  node?: string;
}

const PULL_FAILURES: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'RegistryUnavailable',
]);

/** Reasons of the condition DisruptionTarget that evict a pod through no fault of its own. */
const EVICTIONS: ReadonlySet<string> = new Set([
  'EvictionByEvictionAPI',
  'PreemptionByScheduler',
  'DeletionByTaintManager',
  'TerminationByKubelet',
]);

interface ContainerLook {
  name: string;
  image: string;
  restarts: number;
  waiting: string;
  message: string;
  exitCode: number | undefined;
  outOfMemoryAt: string;
}

/** Compares a pod with its last state: returns the events since then and the state to keep. */
export function lookAtPod(
  pod: KubeObject,
  before: KeptPod | null,
  initial: boolean,
  keyPrefix: string,
): { kept: KeptPod; events: ClusterEvent[] } {
  const containers = containersOf(pod);
  const phase = text(fieldAt(pod, 'status', 'phase'));
  const events: ClusterEvent[] = [];
  const emit = (type: ClusterEvent['type'], details: Record<string, string | number | undefined>): void => {
    if (!initial)
      events.push({ type, ...placeOf(pod), details: detailsOf({ ...commonOf(pod, keyPrefix), ...details }) });
  };
  const ready = hasCondition(pod, 'Ready');
  if (before === null) emit('pod_created', {});
  if (ready && before?.ready !== true) emit('pod_ready', {});
  const eviction = evictionOf(pod);
  const exitCode = containers.find((each) => (each.exitCode ?? 0) !== 0)?.exitCode;
  if (eviction !== null && before?.evicted !== true) emit('pod_evicted', { ...eviction, exit_code: exitCode });
  if (phase === 'Failed' && before?.phase !== 'Failed' && eviction === null) {
    const reason = text(fieldAt(pod, 'status', 'reason'));
    emit('pod_failed', { reason, message: text(fieldAt(pod, 'status', 'message')), exit_code: exitCode });
  }
  const kept: KeptPod = {
    namespace: pod.metadata.namespace ?? '',
    name: pod.metadata.name,
    phase,
    ready,
    reportCrashes: reportCrashes(containers, before?.reportCrashes ?? 0, emit),
    reportPullFailure: reportPullFailure(containers, before?.reportPullFailure ?? '', emit),
    outOfMemoryAt: reportOutOfMemory(containers, before?.outOfMemoryAt ?? '', emit),
    ...(eviction === null ? {} : { evicted: true }),
    ...whereAndWhat(pod),
  };
  return { kept, events };
}

export function podGone({ namespace, name, phase, image, node }: KeptPod): ClusterEvent {
  return { type: 'pod_deleted', namespace, resource: `pod/${name}`, details: detailsOf({ phase, image, node }) };
}

/** From the pod's spec: the status names the image only after it was pulled, and by another name. */
function whereAndWhat(pod: KubeObject): { image?: string; node?: string } {
  const image = text(fieldAt(pod, 'spec', 'containers', 0, 'image'));
  const node = text(fieldAt(pod, 'spec', 'nodeName'));
  return { ...(image === '' ? {} : { image }), ...(node === '' ? {} : { node }) };
}

/** By the kubelet, which reports it once the pod has ended, or by a drain, preemption or taint while it still runs. */
function evictionOf(pod: KubeObject): { reason: string; message: string } | null {
  const reason = text(fieldAt(pod, 'status', 'reason'));
  if (reason === 'Evicted') return { reason, message: text(fieldAt(pod, 'status', 'message')) };
  const condition = findCondition(pod, 'DisruptionTarget');
  const by = text(condition?.['reason']);
  if (condition?.['status'] !== 'True' || !EVICTIONS.has(by)) return null;
  return { reason: by, message: text(condition['message']) };
}

type EmitPodEvent = (type: ClusterEvent['type'], details: Record<string, string | number | undefined>) => void;

/** Reported at the start and at each doubling of the restarts: a loop of several days gives a dozen events. */
function reportCrashes(containers: readonly ContainerLook[], reported: number, emit: EmitPodEvent): number {
  const crashing = containers.find(({ waiting }) => waiting === 'CrashLoopBackOff');
  if (crashing === undefined) return reported;
  const { name, image, restarts, message, exitCode } = crashing;
  if (reported > 0 && restarts < reported * 2) return reported;
  emit('pod_crash_loop', { container: name, image, restarts, message, exit_code: exitCode });
  return Math.max(1, restarts);
}

/** `ErrImagePull` and `ImagePullBackOff` alternate: report one event per image. */
function reportPullFailure(containers: readonly ContainerLook[], reported: string, emit: EmitPodEvent): string {
  const failing = containers.find(({ waiting }) => PULL_FAILURES.has(waiting));
  if (failing === undefined) return containers.some(({ waiting }) => waiting !== '') ? reported : '';
  const { name, image, waiting: reason, message } = failing;
  if (image !== reported) emit('image_pull_failed', { container: name, image, reason, message });
  return image;
}

function reportOutOfMemory(containers: readonly ContainerLook[], reported: string, emit: EmitPodEvent): string {
  let newest = reported;
  for (const { name, image, outOfMemoryAt, restarts } of containers) {
    if (outOfMemoryAt <= reported) continue;
    emit('pod_oom_killed', { container: name, image, restarts, finished_at: outOfMemoryAt });
    if (outOfMemoryAt > newest) newest = outOfMemoryAt;
  }
  return newest;
}

function containersOf(pod: KubeObject): ContainerLook[] {
  const lists = [fieldAt(pod, 'status', 'initContainerStatuses'), fieldAt(pod, 'status', 'containerStatuses')];
  const asked = imagesByContainer(pod);
  return lists
    .flatMap((list): unknown[] => (Array.isArray(list) ? list : []))
    .filter(isRecord)
    .map((status) => {
      const ends = [fieldAt(status, 'state', 'terminated'), fieldAt(status, 'lastState', 'terminated')].filter(
        isRecord,
      );
      const exitCode = ends[0]?.['exitCode'];
      const restarts = status['restartCount'];
      const name = text(status['name']);
      return {
        name,
        image: asked.get(name) ?? text(status['image']),
        restarts: typeof restarts === 'number' ? restarts : 0,
        waiting: text(fieldAt(status, 'state', 'waiting', 'reason')),
        message: text(fieldAt(status, 'state', 'waiting', 'message')),
        exitCode: typeof exitCode === 'number' ? exitCode : undefined,
        outOfMemoryAt: text(ends.find(({ reason }) => reason === 'OOMKilled')?.['finishedAt']),
      };
    });
}

function imagesByContainer(pod: KubeObject): ReadonlyMap<string, string> {
  const lists = [fieldAt(pod, 'spec', 'initContainers'), fieldAt(pod, 'spec', 'containers')];
  return new Map(
    lists
      .flatMap((list): unknown[] => (Array.isArray(list) ? list : []))
      .filter(isRecord)
      .map(({ name, image }) => [text(name), text(image)]),
  );
}

function commonOf(pod: KubeObject, keyPrefix: string): Record<string, string | undefined> {
  const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true);
  return {
    ...whereAndWhat(pod),
    project_id: pod.metadata.labels?.[`${keyPrefix}/project`],
    owner: owner === undefined ? undefined : `${owner.kind.toLowerCase()}/${owner.name}`,
  };
}

function placeOf({ metadata }: KubeObject): { namespace: string; resource: string } {
  return { namespace: metadata.namespace ?? '', resource: `pod/${metadata.name}` };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
