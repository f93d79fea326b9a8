import type { PlannedObject } from './plan.ts';

/** Waves: dependencies first. Unlisted kinds come after the workloads. */
const WAVES: readonly (readonly string[])[] = [
  ['Namespace'],
  ['CustomResourceDefinition'],
  [
    'ServiceAccount',
    'ClusterRole',
    'Role',
    'ClusterRoleBinding',
    'RoleBinding',
    'PriorityClass',
    'LimitRange',
    'ResourceQuota',
  ],
  ['Secret', 'ConfigMap'],
  ['StorageClass', 'PersistentVolume', 'PersistentVolumeClaim'],
  ['Service'],
  ['Pod', 'ReplicationController', 'ReplicaSet', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'],
];

/** Groups of objects to apply in sequence; within a wave, the manifest's order is kept. */
export function inWaves(objects: readonly PlannedObject[]): PlannedObject[][] {
  const waves: PlannedObject[][] = Array.from({ length: WAVES.length + 1 }, () => []);
  for (const each of objects) {
    const found = WAVES.findIndex((kinds) => kinds.includes(each.object.kind));
    waves[found === -1 ? WAVES.length : found]?.push(each);
  }
  return waves.filter((wave) => wave.length > 0);
}
