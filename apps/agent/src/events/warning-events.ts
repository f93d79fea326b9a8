import { fieldAt, type KubeObject } from '@svc/kube';
import { detailsOf, type ClusterEvent } from './cluster-event.ts';
import type { KeptPod } from './pod-events.ts';

/** The in-memory part of a Kubernetes Event: its count when last reported. */
export type KeptWarning = number;

/** The object that a Warning is about. */
export interface Involved {
  kind: string;
  namespace: string;
  name: string;
}

export function involvedIn(event: KubeObject): Involved {
  return {
    kind: text(fieldAt(event, 'involvedObject', 'kind')),
    namespace: text(fieldAt(event, 'involvedObject', 'namespace')) || (event.metadata.namespace ?? ''),
    name: text(fieldAt(event, 'involvedObject', 'name')),
  };
}

/** Kubernetes counts repetitions in one object; reported again at each doubling. */
export function lookAtWarning(
  event: KubeObject,
  before: KeptWarning | null,
  initial: boolean,
  /** Known fields of the affected pod. */
  pod: Pick<KeptPod, 'image' | 'node'> = {},
): { kept: KeptWarning; events: ClusterEvent[] } {
  const counted = fieldAt(event, 'count') ?? fieldAt(event, 'series', 'count');
  const count = typeof counted === 'number' ? counted : 1;
  if (initial) return { kept: count, events: [] };
  if (before !== null && count < before * 2) return { kept: before, events: [] };
  const { kind, namespace, name } = involvedIn(event);
  const details = detailsOf({
    reason: text(fieldAt(event, 'reason')),
    message: text(fieldAt(event, 'message')),
    source: text(fieldAt(event, 'reportingComponent')) || text(fieldAt(event, 'source', 'component')),
    count,
    image: pod.image,
    node: pod.node,
  });
  return {
    kept: count,
    events: [{ type: 'warning_event', namespace, resource: `${kind.toLowerCase()}/${name}`, details }],
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
