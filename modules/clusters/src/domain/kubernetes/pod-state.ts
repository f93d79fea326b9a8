import { countAt, fieldAt, hasCondition, isRecord, recordsAt, textAt } from '@svc/kube/values';

/** The pod state that kubectl shows: `Running`, `CrashLoopBackOff`, `Init:1/2`, `Terminating`. */
export function podStateOf(pod: unknown): string {
  if (textAt(pod, 'metadata', 'deletionTimestamp') !== null) {
    return textAt(pod, 'status', 'reason') === 'NodeLost' ? 'Unknown' : 'Terminating';
  }
  const phase = textAt(pod, 'status', 'reason') ?? textAt(pod, 'status', 'phase') ?? 'Unknown';
  const initial = initStateOf(pod);
  if (initial !== null) return initial;
  let state = phase;
  let isRunning = false;
  for (const status of recordsAt(pod, 'status', 'containerStatuses').toReversed()) {
    const reason = containerReasonOf(status);
    if (reason !== null) state = reason;
    else if (status['ready'] === true) isRunning = true;
  }
  if (state !== 'Completed' || !isRunning) return state;
  return hasCondition(pod, 'Ready') ? 'Running' : 'NotReady';
}

/** Null once the init containers are done. */
function initStateOf(pod: unknown): string | null {
  const statuses = recordsAt(pod, 'status', 'initContainerStatuses');
  for (const [index, status] of statuses.entries()) {
    if (isDone(pod, status)) continue;
    const reason = containerReasonOf(status);
    if (reason !== null && reason !== 'PodInitializing') return `Init:${reason}`;
    return `Init:${index}/${recordsAt(pod, 'spec', 'initContainers').length}`;
  }
  return null;
}

function isDone(pod: unknown, status: Record<string, unknown>): boolean {
  const terminated = fieldAt(status, 'state', 'terminated');
  if (isRecord(terminated) && terminated['exitCode'] === 0) return true;
  const spec = recordsAt(pod, 'spec', 'initContainers').find(({ name }) => name === status['name']);
  return spec?.['restartPolicy'] === 'Always' && status['started'] === true; // a sidecar keeps running
}

/** Why a container is not running; null if it is. */
export function containerReasonOf(status: unknown): string | null {
  const waiting = textAt(status, 'state', 'waiting', 'reason');
  if (waiting !== null) return waiting;
  if (!isRecord(fieldAt(status, 'state', 'terminated'))) return null;
  const reason = textAt(status, 'state', 'terminated', 'reason');
  if (reason !== null) return reason;
  const signal = countAt(status, 'state', 'terminated', 'signal');
  return signal === 0 ? `ExitCode:${countAt(status, 'state', 'terminated', 'exitCode')}` : `Signal:${signal}`;
}
