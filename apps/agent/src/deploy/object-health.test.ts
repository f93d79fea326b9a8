import type { KubeObject } from '@svc/kube';
import { describe, expect, it } from 'vitest';
import { healthOf, waitingReason } from './object-health.ts';

function object(apiVersion: string, kind: string, fields: Record<string, unknown>, generation = 2): KubeObject {
  return { apiVersion, kind, metadata: { name: 'x', generation }, ...fields };
}
const rolledOut = { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
const deployment = (status: object) => object('apps/v1', 'Deployment', { spec: { replicas: 2 }, status });

describe('the health of an object', () => {
  it.each([
    ['rolled out', deployment(rolledOut), 'ready'],
    ['of an older generation', deployment({ ...rolledOut, observedGeneration: 1 }), 'progressing'],
    ['without a status', deployment({}), 'progressing'],
    ['with old replicas', deployment({ ...rolledOut, replicas: 3 }), 'progressing'],
    ['with unavailable replicas', deployment({ ...rolledOut, availableReplicas: 1 }), 'progressing'],
    [
      'out of time',
      deployment({
        ...rolledOut,
        conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
      }),
      'failed',
    ],
    [
      'job failed',
      object('batch/v1', 'Job', { status: { conditions: [{ type: 'Failed', status: 'True' }] } }),
      'failed',
    ],
    ['job running', object('batch/v1', 'Job', { status: { ready: 1 } }), 'ready'],
    ['pod ready', object('v1', 'Pod', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }), 'ready'],
    ['pod failed', object('v1', 'Pod', { status: { phase: 'Failed' } }), 'failed'],
    ['claim lost', object('v1', 'PersistentVolumeClaim', { status: { phase: 'Lost' } }), 'failed'],
    ['plain service', object('v1', 'Service', { spec: { type: 'ClusterIP' } }), 'ready'],
    ['load balancer without address', object('v1', 'Service', { spec: { type: 'LoadBalancer' } }), 'progressing'],
    ['a kind without status', object('v1', 'ConfigMap', {}), 'ready'],
    [
      'a custom kind that is not ready',
      object('x/v1', 'Thing', { status: { conditions: [{ type: 'Ready', status: 'False' }] } }),
      'progressing',
    ],
    [
      'being deleted',
      { ...object('v1', 'ConfigMap', {}), metadata: { name: 'x', deletionTimestamp: 'now' } },
      'progressing',
    ],
    [
      'daemon set elsewhere',
      object('apps/v1', 'DaemonSet', { status: { observedGeneration: 2, desiredNumberScheduled: 0 } }),
      'ready',
    ],
    [
      'stateful set half way',
      object('apps/v1', 'StatefulSet', {
        spec: { replicas: 2 },
        status: { observedGeneration: 2, updatedReplicas: 2, readyReplicas: 1 },
      }),
      'progressing',
    ],
  ])('%s: %#', (_what, given, expected) => {
    expect(healthOf(given).health).toBe(expected);
  });

  it('is explained by the first container that cannot run', () => {
    const waiting = { state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } }, name: 'web' };
    const creating = { state: { waiting: { reason: 'ContainerCreating' } }, name: 'a' };
    const running = { state: { running: {} }, name: 'b' };
    const ended = (exitCode: number) => ({ terminated: { exitCode, reason: 'Error', message: 'no disk' } });
    const reasonOf = (containerStatuses: object[], initContainerStatuses: object[] = []) =>
      waitingReason(object('v1', 'Pod', { status: { containerStatuses, initContainerStatuses } }));
    expect(reasonOf([creating, running, waiting])).toBe('container web waits: ImagePullBackOff no such image');
    expect(reasonOf([{ name: 'web', state: ended(3) }])).toBe('container web exited with code 3 (Error): no disk');
    const loop = { name: 'web', state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: ended(3) };
    expect(reasonOf([loop])).toBe(
      'container web waits: CrashLoopBackOff; before that it exited with code 3 (Error): no disk',
    );
    // A completed init container does not block the pod.
    expect(reasonOf([creating], [{ name: 'setup', state: ended(0) }])).toBeNull();
    expect(reasonOf([creating], [{ name: 'setup', state: ended(1) }])).toMatch(/^container setup exited with code 1/);
    expect(waitingReason(object('v1', 'Pod', { status: {} }))).toBeNull();
  });
});
