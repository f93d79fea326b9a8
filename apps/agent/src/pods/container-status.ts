import { fieldAt, isRecord, type KubeObject } from '@svc/kube';

const STATUS_LISTS = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;

/** Status of one container in any of the lists; null if the pod has not reached it. */
export function containerStatus(pod: KubeObject, container: string): Record<string, unknown> | null {
  for (const list of STATUS_LISTS) {
    const found = named(fieldAt(pod, 'status', list), container);
    if (found !== null) return found;
  }
  return null;
}

/** The entry with this name in a list of containers or statuses. */
export function named(list: unknown, name: string): Record<string, unknown> | null {
  if (!Array.isArray(list)) return null;
  return list.filter(isRecord).find((each) => each['name'] === name) ?? null;
}

/**
 * Why a container is not running, in the kubelet's words: `waits: ErrImagePull …`, `exited with code 3`; null while it
 * runs.
 */
export function whyNotRunning(status: Record<string, unknown> | null): string | null {
  if (isRecord(fieldAt(status, 'state', 'running'))) return null;
  const ended = fieldAt(status, 'state', 'terminated');
  if (isRecord(ended)) return describeExit(ended);
  const waiting = fieldAt(status, 'state', 'waiting');
  if (!isRecord(waiting)) return 'has not started';
  const last = fieldAt(status, 'lastState', 'terminated');
  const before = isRecord(last) ? `; before that it ${describeExit(last)}` : '';
  return `waits: ${[waiting['reason'], waiting['message']].filter((each) => typeof each === 'string').join(' ')}${before}`;
}

/** `exited with code 137 (OOMKilled)`, with the termination message, if any. */
export function describeExit({ exitCode, reason, message }: Record<string, unknown>): string {
  const why = typeof reason === 'string' && reason !== '' ? ` (${reason})` : '';
  const left = typeof message === 'string' && message !== '' ? `: ${message}` : '';
  return `exited with code ${String(exitCode)}${why}${left}`;
}
