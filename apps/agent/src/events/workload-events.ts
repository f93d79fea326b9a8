import { fieldAt, type KubeObject } from '@svc/kube';
import { healthOf } from '../deploy/object-health.ts';
import { detailsOf, type ClusterEvent } from './cluster-event.ts';

/** The in-memory part of a Deployment or StatefulSet. */
export interface KeptWorkload {
  namespace: string;
  name: string;
  kind: string;
  replicas: number;
  health: string;
}

/**
 * Reports `deployment_available` and `deployment_failed` when a Deployment changes to that state, and `scaled` for both
 * kinds.
 */
export function lookAtWorkload(
  object: KubeObject,
  before: KeptWorkload | null,
  initial: boolean,
  keyPrefix: string,
): { kept: KeptWorkload; events: ClusterEvent[] } {
  const { name, namespace = '', labels } = object.metadata;
  const kind = object.kind.toLowerCase();
  const { health, message } = healthOf(object);
  const wanted = fieldAt(object, 'spec', 'replicas');
  const replicas = typeof wanted === 'number' ? wanted : 1;
  const events: ClusterEvent[] = [];
  const emit = (type: ClusterEvent['type'], details: Record<string, string | number | undefined>): void => {
    const common = { project_id: labels?.[`${keyPrefix}/project`] };
    if (!initial) {
      events.push({ type, namespace, resource: `${kind}/${name}`, details: detailsOf({ ...details, ...common }) });
    }
  };
  if (before !== null && before.replicas !== replicas) emit('scaled', { from: before.replicas, to: replicas });
  if (kind === 'deployment' && before?.health !== health) {
    if (health === 'ready') emit('deployment_available', { replicas });
    if (health === 'failed') emit('deployment_failed', { reason: message });
  }
  return { kept: { namespace, name, kind, replicas, health }, events };
}
