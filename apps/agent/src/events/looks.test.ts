import type { KubeObject } from '@svc/kube';
import { describe, expect, it } from 'vitest';
import { lookAtPod, podGone, type KeptPod } from './pod-events.ts';
import { lookAtWarning } from './warning-events.ts';
import { lookAtWorkload } from './workload-events.ts';

function pod(status: object): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-1', namespace: 'shop', labels: { 'svc.dev/project': 'p' } },
    spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'web:1' }] },
    status,
  };
}

function waiting(reason: string, restartCount = 0): object {
  return { containerStatuses: [{ name: 'main', image: 'web:1', restartCount, state: { waiting: { reason } } }] };
}

/** Applies the looks in order, as from a watch; returns the event types of each. */
function story(statuses: readonly object[], initial = false): string[][] {
  let kept: KeptPod | null = null;
  return statuses.map((status, index) => {
    const looked = lookAtPod(pod(status), kept, initial && index === 0, 'svc.dev');
    kept = looked.kept;
    return looked.events.map(({ type }) => type);
  });
}

describe('pod observations', () => {
  it('report no initial state, but every later change', () => {
    const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    expect(story([ready, ready, { phase: 'Failed', reason: 'Evicted' }], true)).toEqual([[], [], ['pod_evicted']]);
    expect(story([{ phase: 'Pending' }, ready])).toEqual([['pod_created'], ['pod_ready']]);
  });

  it('report an eviction once, whatever its cause, and no failure in addition', () => {
    const target = (reason: string, status = 'True') => [{ type: 'DisruptionTarget', status, reason, message: 'm' }];
    const running = { phase: 'Running' };
    const drained = { phase: 'Running', conditions: target('EvictionByEvictionAPI') };
    const ended = { phase: 'Failed', conditions: target('EvictionByEvictionAPI') };
    expect(story([running, drained, drained, ended])).toEqual([['pod_created'], ['pod_evicted'], [], []]);
    const byKubelet = { phase: 'Failed', reason: 'Evicted', conditions: target('TerminationByKubelet') };
    expect(story([running, byKubelet])[1]).toEqual(['pod_evicted']);
    // A lost node or another reason for deletion is not an eviction.
    expect(story([running, { phase: 'Failed', conditions: target('DeletionByPodGC') }])[1]).toEqual(['pod_failed']);
    expect(story([running, { phase: 'Failed', conditions: target('PreemptionByScheduler', 'False') }])[1]).toEqual([
      'pod_failed',
    ]);
  });

  it('report a crash loop when it begins and whenever its restarts double', () => {
    const loop = [3, 4, 5, 6, 7].map((restarts) => waiting('CrashLoopBackOff', restarts));
    expect(story([{}, ...loop]).slice(1)).toEqual([['pod_crash_loop'], [], [], ['pod_crash_loop'], []]);
  });

  it('report a failed pull once per image, and again after a success', () => {
    const looks = [
      waiting('ErrImagePull'),
      waiting('ImagePullBackOff'),
      waiting('ErrImagePull'),
      {},
      waiting('ErrImagePull'),
    ];
    expect(story([{}, ...looks]).slice(1)).toEqual([['image_pull_failed'], [], [], [], ['image_pull_failed']]);
  });

  it('report each out-of-memory kill once', () => {
    const ended = (finishedAt: string) => ({
      containerStatuses: [{ name: 'main', lastState: { terminated: { reason: 'OOMKilled', finishedAt } } }],
    });
    const looks = [ended('2026-01-01T00:00:01Z'), ended('2026-01-01T00:00:01Z'), ended('2026-01-01T00:01:01Z')];
    expect(story([{}, ...looks]).slice(1)).toEqual([['pod_oom_killed'], [], ['pod_oom_killed']]);
  });

  it('include location and owner', () => {
    const { events } = lookAtPod(pod({}), null, false, 'svc.dev');
    expect(events).toEqual([
      {
        type: 'pod_created',
        namespace: 'shop',
        resource: 'pod/web-1',
        details: { image: 'web:1', node: 'node-1', project_id: 'p' },
      },
    ]);
  });
});

describe('pod events', () => {
  const known = { image: 'web:1', node: 'node-1' };
  const container = { name: 'main', image: 'docker.io/library/web:1', restartCount: 3 };
  const terminated = { reason: 'OOMKilled', finishedAt: '2026-01-01T00:00:01Z' };

  it.each([
    ['pod_ready', { conditions: [{ type: 'Ready', status: 'True' }] }],
    ['pod_failed', { phase: 'Failed', reason: 'DeadlineExceeded' }],
    ['pod_evicted', { phase: 'Failed', reason: 'Evicted' }],
    ['pod_crash_loop', waiting('CrashLoopBackOff', 3)],
    ['image_pull_failed', waiting('ErrImagePull')],
    ['pod_oom_killed', { containerStatuses: [{ ...container, lastState: { terminated } }] }],
  ])('of type %s include the image and the node', (type, status) => {
    const { kept } = lookAtPod(pod({ phase: 'Pending' }), null, false, 'svc.dev');
    const { events } = lookAtPod(pod(status), kept, false, 'svc.dev');
    expect(events).toEqual([expect.objectContaining({ type, details: expect.objectContaining(known) })]);
  });

  it('include them even after the pod is gone', () => {
    const { kept } = lookAtPod(pod({ phase: 'Running' }), null, true, 'svc.dev');
    expect(podGone(kept).details).toEqual({ phase: 'Running', ...known });
  });

  it('include only the image before the pod is scheduled', () => {
    const unscheduled = { ...pod({ phase: 'Pending' }), spec: { containers: [{ name: 'main', image: 'web:1' }] } };
    const { kept, events } = lookAtPod(unscheduled, null, false, 'svc.dev');
    expect(events[0]?.details).toEqual({ image: 'web:1', project_id: 'p' });
    expect(podGone(kept).details).toEqual({ phase: 'Pending', image: 'web:1' });
  });

  it('include the image of the affected container', () => {
    const spec = {
      containers: [
        { name: 'web', image: 'web:1' },
        { name: 'main', image: 'job:2' },
      ],
    };
    const { events } = lookAtPod({ ...pod(waiting('ErrImagePull')), spec }, null, false, 'svc.dev');
    expect(events.map(({ details }) => details['image'])).toEqual(['web:1', 'job:2']);
  });

  it('include the known details of the pod in a warning', () => {
    const warning: KubeObject = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'w', namespace: 'shop' },
      involvedObject: { kind: 'Pod', name: 'web-1' },
      reason: 'BackOff',
    };
    expect(lookAtWarning(warning, null, false, known).events[0]?.details).toMatchObject(known);
  });
});

describe('workload observations', () => {
  function deployment(replicas: number, status: object): KubeObject {
    return {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'shop', generation: 1 },
      spec: { replicas },
      status: { observedGeneration: 1, ...status },
    };
  }

  it('report when a workload becomes available, fails or is scaled', () => {
    const up = deployment(1, { updatedReplicas: 1, availableReplicas: 1, replicas: 1 });
    const stuck = deployment(1, {
      conditions: [{ type: 'Progressing', reason: 'ProgressDeadlineExceeded', message: 'no' }],
    });
    const first = lookAtWorkload(deployment(1, {}), null, false, 'svc.dev');
    expect(first.events).toEqual([]);
    expect(lookAtWorkload(up, first.kept, false, 'svc.dev').events).toMatchObject([{ type: 'deployment_available' }]);
    expect(lookAtWorkload(stuck, first.kept, false, 'svc.dev').events).toMatchObject([
      { type: 'deployment_failed', details: { reason: 'no' } },
    ]);
    expect(lookAtWorkload(deployment(4, {}), first.kept, false, 'svc.dev').events).toMatchObject([
      { type: 'scaled', details: { from: '1', to: '4' } },
    ]);
  });
});

describe('warning observations', () => {
  it('report a warning at first sight and at each doubling', () => {
    const warning = (count: number): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'x', namespace: 'shop' },
      involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web-1' },
      reason: 'BackOff',
      count,
    });
    let kept: number | null = null;
    const told = [1, 2, 3, 4, 7, 8].map((count) => {
      const looked = lookAtWarning(warning(count), kept, false);
      kept = looked.kept;
      return looked.events.length;
    });
    expect(told).toEqual([1, 1, 0, 1, 0, 1]);
  });
});
