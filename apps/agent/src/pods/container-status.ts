import { fieldAt, isRecord, type KubeObject } from '@svc/kube';

const STATUS_LISTS = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;

/** Status of one container, whichever list it stands in; null where its pod has not come to it. */
export function containerStatus(pod: KubeObject, container: string): Record<string, unknown> | null {
  for (const list of STATUS_LISTS) {
    const found = named(fieldAt(pod, 'status', list), container);
    if (found !== null) return found;
  }
  return null;
}

/** The entry of a list of containers, or of their statuses, with this name. */
export function named(list: unknown, name: string): Record<string, unknown> | null {
  if (!Array.isArray(list)) return null;
  return list.filter(isRecord).find((each) => each['name'] === name) ?? null;
}

/** Why a container does not run, in the kubelet's words: `waits: ErrImagePull …`, `exited with code 3`; null while it runs. */
export function whyNotRunning(status: Record<string, unknown> | null): string | null {
  if (isRecord(fieldAt(status, 'state', 'running'))) return null;
  const ended = fieldAt(status, 'state', 'terminated');
  if (isRecord(ended)) return exitOf(ended);
  const waiting = fieldAt(status, 'state', 'waiting');
  if (!isRecord(waiting)) return 'has not started';
  const last = fieldAt(status, 'lastState', 'terminated');
  const before = isRecord(last) ? `; before that it ${exitOf(last)}` : '';
  return `waits: ${[waiting['reason'], waiting['message']].filter((each) => typeof each === 'string').join(' ')}${before}`;
}

/** `exited with code 137 (OOMKilled)`, with the message that it left, if any. */
export function exitOf({ exitCode, reason, message }: Record<string, unknown>): string {
  const why = typeof reason === 'string' && reason !== '' ? ` (${reason})` : '';
  const left = typeof message === 'string' && message !== '' ? `: ${message}` : '';
  return `exited with code ${String(exitCode)}${why}${left}`;
}
