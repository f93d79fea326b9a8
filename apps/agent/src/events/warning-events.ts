import { fieldAt, type KubeObject } from '@svc/kube';
import { detailsOf, type ClusterEvent } from './cluster-event.ts';
import type { KeptPod } from './pod-events.ts';

/** What stays in memory of an Event object of Kubernetes: how often it had happened when it was told. */
export type KeptWarning = number;

/** What a Warning is about. */
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

/** Kubernetes counts repetitions in one object; they are told again at each doubling. */
export function lookAtWarning(
  event: KubeObject,
  before: KeptWarning | null,
  initial: boolean,
  /** What is known of the pod that it is about. */
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
