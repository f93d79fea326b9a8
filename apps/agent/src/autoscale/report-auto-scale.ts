import { fieldAt, type KubeObject } from '@svc/kube';
import type { AppliedObject } from '../deploy/apply.ts';
import { detailsOf, type ClusterEvent } from '../events/cluster-event.ts';
import { AUTOSCALER, type SkippedAutoScale } from './plan-auto-scale.ts';

/** Warnings in the deploy result for workloads that requested autoscaling but did not get it. */
export function skipWarnings(skipped: readonly SkippedAutoScale[]): string[] {
  return skipped.map(({ workload, reason }) => `${nameOf(workload)} is not auto-scaled: ${reason}`);
}

/** One event per autoscaler created or changed, and per autoscaler that could not be created. */
export function autoScaleEvents(
  applied: readonly AppliedObject[],
  skipped: readonly SkippedAutoScale[],
  projectId: string,
): ClusterEvent[] {
  const made = applied.filter(
    ({ planned, result }) => planned.ownerKind !== undefined && result.action !== 'unchanged',
  );
  return [
    ...made.map(({ object, planned }): ClusterEvent => {
      const { name, namespace = '' } = object.metadata;
      const resource = `${(planned.ownerKind ?? AUTOSCALER.kind).toLowerCase()}/${name}`;
      const details = detailsOf({
        project_id: projectId,
        min_replicas: numberAt(object, 'minReplicas'),
        max_replicas: numberAt(object, 'maxReplicas'),
      });
      return { type: 'autoscale_applied', namespace, resource, details };
    }),
    ...skipped.map(({ workload, reason }): ClusterEvent => {
      const { namespace = '' } = workload.metadata;
      const details = detailsOf({ project_id: projectId, reason });
      return { type: 'autoscale_skipped', namespace, resource: nameOf(workload), details };
    }),
  ];
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind.toLowerCase()}/${metadata.name}`;
}

function numberAt(object: KubeObject, name: string): number | undefined {
  const value = fieldAt(object, 'spec', name);
  return typeof value === 'number' ? value : undefined;
}
