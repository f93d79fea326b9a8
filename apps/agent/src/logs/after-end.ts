import { fieldAt, isRecord, type KubeObject } from '@svc/kube';
import type { LogsResult } from '@svc/protocol';
import { containerStatus, named } from '../pods/container-status.ts';

/** What a follower does after a stream ends: reopen it, wait for the pod to return, or end with a reason. */
export type AfterEnd =
  | { next: 'reopen' }
  | { next: 'wait_for_pod' }
  | { next: 'end'; reason: Extract<LogsResult['reason'], 'container_terminated' | 'pod_deleted'> };

const REOPEN: AfterEnd = { next: 'reopen' };
const TERMINATED: AfterEnd = { next: 'end', reason: 'container_terminated' };
const DELETED: AfterEnd = { next: 'end', reason: 'pod_deleted' };

/**
 * The end of a stream is not the end of the container: the kubelet also ends it when it rotates the file. Logs end only
 * when the container will not run again. A pod of a StatefulSet returns under the same name.
 */
export function afterEnd(pod: KubeObject | null, container: string, comesBack: boolean): AfterEnd {
  if (pod === null) return comesBack ? { next: 'wait_for_pod' } : DELETED;
  const status = containerStatus(pod, container);
  const terminated = fieldAt(status, 'state', 'terminated');
  if (!isRecord(terminated)) {
    const going = pod.metadata.deletionTimestamp !== undefined;
    return going && !isRecord(fieldAt(status, 'state', 'running')) && !comesBack ? DELETED : REOPEN;
  }
  if (pod.metadata.deletionTimestamp !== undefined) return comesBack ? { next: 'wait_for_pod' } : DELETED;
  const phase = fieldAt(pod, 'status', 'phase');
  if (phase === 'Succeeded' || phase === 'Failed') return TERMINATED;
  return runsAgain(pod, container, terminated['exitCode'] === 0) ? REOPEN : TERMINATED;
}

/** True if the pod's controller recreates it under the same name. */
export function hasStableName(pod: KubeObject): boolean {
  return (pod.metadata.ownerReferences ?? []).some(
    ({ kind, controller }) => kind === 'StatefulSet' && controller === true,
  );
}

function runsAgain(pod: KubeObject, container: string, succeeded: boolean): boolean {
  if (named(fieldAt(pod, 'spec', 'ephemeralContainers'), container) !== null) return false;
  const init = named(fieldAt(pod, 'spec', 'initContainers'), container);
  if (init !== null && succeeded && init['restartPolicy'] !== 'Always') return false;
  const policy = fieldAt(pod, 'spec', 'restartPolicy');
  return policy === 'Never' ? false : policy !== 'OnFailure' || !succeeded;
}
