import { fieldAt, type KubeObject } from '@svc/kube';
import { findCondition, hasCondition, recordsAt } from '@svc/kube/values';
import type { ResourceResult } from '@svc/protocol';
import { whyNotRunning } from '../pods/container-status.ts';

export interface ObjectHealth {
  health: ResourceResult['health'];
  message: string;
}

/** Waiting reasons of a container that is still starting. */
const STARTING: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

interface Numbers {
  (...path: string[]): number;
}

/** The health of an object, from the status that its controller writes. */
export function healthOf(object: KubeObject): ObjectHealth {
  if (object.metadata.deletionTimestamp !== undefined) return { health: 'progressing', message: 'is being deleted' };
  const observed = fieldAt(object, 'status', 'observedGeneration');
  const { generation } = object.metadata;
  if (typeof observed === 'number' && generation !== undefined && observed < generation) {
    return { health: 'progressing', message: 'its controller has not seen the change yet' };
  }
  const number: Numbers = (...path) => numberAt(object, path);
  switch (`${object.apiVersion.split('/')[0] ?? ''}/${object.kind}`) {
    case 'apps/Deployment':
      return deploymentHealth(object, number);
    case 'apps/StatefulSet':
      return replicasHealth(number, 'updatedReplicas', 'readyReplicas');
    case 'apps/ReplicaSet':
      return replicasHealth(number, 'replicas', 'readyReplicas');
    case 'apps/DaemonSet':
      return daemonSetHealth(number);
    case 'batch/Job':
      return jobHealth(object, number);
    case 'v1/Pod':
      return podHealth(object);
    case 'v1/PersistentVolumeClaim':
      return claimHealth(object);
    case 'v1/Service':
      return serviceHealth(object);
    case 'apiextensions.k8s.io/CustomResourceDefinition':
      return hasCondition(object, 'Established') ? ready() : progressing('is not served yet');
    default:
      return otherHealth(object);
  }
}

function deploymentHealth(object: KubeObject, number: Numbers): ObjectHealth {
  const progress = findCondition(object, 'Progressing');
  if (progress?.['reason'] === 'ProgressDeadlineExceeded') {
    return { health: 'failed', message: parseText(progress['message']) || 'made no progress in time' };
  }
  if (fieldAt(object, 'status', 'observedGeneration') === undefined) return progressing('has no status yet');
  const replicas = wantedReplicas(object);
  const updated = number('status', 'updatedReplicas');
  const available = number('status', 'availableReplicas');
  const total = number('status', 'replicas');
  if (updated < replicas) return progressing(`${updated} of ${replicas} replicas are updated`);
  if (total > updated) return progressing(`${total - updated} old replicas are terminating`);
  if (available < updated) return progressing(`${available} of ${updated} replicas are available`);
  return ready();
}

function replicasHealth(number: Numbers, updatedField: string, readyField: string): ObjectHealth {
  const replicas = number('spec', 'replicas');
  const updated = number('status', updatedField);
  const readyCount = number('status', readyField);
  if (updated < replicas) return progressing(`${updated} of ${replicas} replicas are updated`);
  if (readyCount < replicas) return progressing(`${readyCount} of ${replicas} replicas are ready`);
  return ready();
}

function daemonSetHealth(number: Numbers): ObjectHealth {
  const wanted = number('status', 'desiredNumberScheduled');
  const updated = number('status', 'updatedNumberScheduled');
  const available = number('status', 'numberAvailable');
  if (number('status', 'observedGeneration') === 0) return progressing('has no status yet');
  if (updated < wanted) return progressing(`${updated} of ${wanted} pods are updated`);
  if (available < wanted) return progressing(`${available} of ${wanted} pods are available`);
  return ready();
}

/** A job need not finish within a deploy: a running one is ready. */
function jobHealth(object: KubeObject, number: Numbers): ObjectHealth {
  const failure = findCondition(object, 'Failed');
  if (failure?.['status'] === 'True') {
    return { health: 'failed', message: parseText(failure['message']) || 'failed' };
  }
  if (hasCondition(object, 'Complete')) return { health: 'ready', message: 'completed' };
  if (fieldAt(object, 'spec', 'suspend') === true) return { health: 'ready', message: 'is suspended' };
  return number('status', 'ready') > 0 ? { health: 'ready', message: 'runs' } : progressing('has no running pod yet');
}

function podHealth(object: KubeObject): ObjectHealth {
  const phase = fieldAt(object, 'status', 'phase');
  if (phase === 'Succeeded') return { health: 'ready', message: 'completed' };
  if (phase === 'Failed') {
    return { health: 'failed', message: parseText(fieldAt(object, 'status', 'message')) || 'failed' };
  }
  return hasCondition(object, 'Ready')
    ? ready()
    : progressing(waitingReason(object) ?? `is ${parseText(phase) || 'Pending'}`);
}

function claimHealth(object: KubeObject): ObjectHealth {
  const phase = fieldAt(object, 'status', 'phase');
  if (phase === 'Bound') return ready();
  if (phase === 'Lost') return { health: 'failed', message: 'lost its volume' };
  // A volume is often created only when a pod first uses it, so waiting for it here would never end.
  return { health: 'ready', message: 'is not bound yet' };
}

function serviceHealth(object: KubeObject): ObjectHealth {
  if (fieldAt(object, 'spec', 'type') !== 'LoadBalancer') return ready();
  const ingress = fieldAt(object, 'status', 'loadBalancer', 'ingress');
  return Array.isArray(ingress) && ingress.length > 0
    ? ready()
    : progressing('has no address of its load balancer yet');
}

/** Other kinds are ready unless the usual conditions say otherwise. */
function otherHealth(object: KubeObject): ObjectHealth {
  const condition = findCondition(object, 'Ready') ?? findCondition(object, 'Available');
  if (condition === undefined || condition['status'] === 'True') return ready();
  return progressing(parseText(condition['message']) || 'is not ready');
}

/** The first reason why a container cannot run or a pod cannot be scheduled; null if there is none. */
export function waitingReason(pod: KubeObject): string | null {
  const initial = recordsAt(pod, 'status', 'initContainerStatuses').filter(
    (status) => fieldAt(status, 'state', 'terminated', 'exitCode') !== 0,
  );
  for (const status of [...initial, ...recordsAt(pod, 'status', 'containerStatuses')]) {
    const why = whyNotRunning(status);
    if (why === null || STARTING.has(parseText(fieldAt(status, 'state', 'waiting', 'reason')))) continue;
    return `container ${parseText(status['name'])} ${why}`.slice(0, 500);
  }
  const scheduled = findCondition(pod, 'PodScheduled');
  return scheduled?.['status'] === 'False' ? parseText(scheduled['message']).slice(0, 500) || 'is not scheduled' : null;
}

/** The reason of a controller that cannot create its pods: quota, admission or a missing service account. */
export function controllerReason(object: KubeObject): string | null {
  const failure = findCondition(object, 'ReplicaFailure');
  return failure?.['status'] === 'True' ? parseText(failure['message']).slice(0, 500) : null;
}

function wantedReplicas(object: KubeObject): number {
  const replicas = fieldAt(object, 'spec', 'replicas');
  return typeof replicas === 'number' ? replicas : 1;
}

function numberAt(object: KubeObject, path: readonly string[]): number {
  const value = fieldAt(object, ...path);
  return typeof value === 'number' ? value : 0;
}

function parseText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function ready(): ObjectHealth {
  return { health: 'ready', message: '' };
}

function progressing(message: string): ObjectHealth {
  return { health: 'progressing', message };
}
