import { countAt, fieldAt, isRecord, recordsAt, textAt } from '@svc/kube/values';

/** An image pull error lists every address that was tried. */
const MAX_CHARS = 1000;
/** Waiting reasons of a container that is still starting. */
const ON_ITS_WAY: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/**
 * Why a pod is not running, from the first container that gives a reason. Excludes termination messages, which, like
 * logs, belong to the container.
 */
export function podMessageOf(pod: unknown): string | null {
  const statuses = [
    ...recordsAt(pod, 'status', 'initContainerStatuses'),
    ...recordsAt(pod, 'status', 'containerStatuses'),
  ];
  for (const status of statuses) {
    const words = describeContainer(status);
    if (words !== null) return `Container ${textAt(status, 'name') ?? ''}: ${words}`.slice(0, MAX_CHARS);
  }
  const said = textAt(pod, 'status', 'message') ?? describeUnscheduled(pod);
  return said?.slice(0, MAX_CHARS) ?? null;
}

function describeContainer(status: unknown): string | null {
  const ended = describeExit(fieldAt(status, 'state', 'terminated'));
  const waiting = textAt(status, 'state', 'waiting', 'reason');
  if (waiting === null || ON_ITS_WAY.has(waiting)) return ended;
  const before = describeExit(fieldAt(status, 'lastState', 'terminated'));
  return [before, textAt(status, 'state', 'waiting', 'message') ?? waiting].filter((each) => each !== null).join('; ');
}

/** Null if the container exited with 0 or has not exited. */
function describeExit(terminated: unknown): string | null {
  if (!isRecord(terminated)) return null;
  const exitCode = countAt(terminated, 'exitCode');
  if (exitCode === 0) return null;
  const reason = textAt(terminated, 'reason');
  return reason === null || reason === 'Error'
    ? `it ended with exit code ${exitCode}`
    : `it ended with exit code ${exitCode} (${reason})`;
}

function describeUnscheduled(pod: unknown): string | null {
  const condition = recordsAt(pod, 'status', 'conditions').find(({ type }) => type === 'PodScheduled');
  return condition?.['status'] === 'False' ? textAt(condition, 'message') : null;
}
