import { describe, expect, it } from 'vitest';
import { podStateOf } from './pod-state.ts';

const running = { name: 'a', ready: true, state: { running: {} } };
const crashed = { name: 'b', ready: false, state: { waiting: { reason: 'CrashLoopBackOff' } } };
const done = { name: 'c', ready: false, state: { terminated: { exitCode: 0, reason: 'Completed' } } };
const cut = { name: 'd', ready: false, state: { terminated: { exitCode: 137, signal: 9 } } };
const initial = [{ name: 'i' }, { name: 'j' }];

describe('the state of a pod', () => {
  it.each([
    ['Pending', { status: { phase: 'Pending' } }],
    ['Running', { status: { phase: 'Running', containerStatuses: [running] } }],
    ['CrashLoopBackOff', { status: { phase: 'Running', containerStatuses: [running, crashed] } }],
    ['NotReady', { status: { phase: 'Running', containerStatuses: [running, done] } }],
    ['Signal:9', { status: { phase: 'Failed', containerStatuses: [cut] } }],
    ['Evicted', { status: { phase: 'Failed', reason: 'Evicted' } }],
    ['Terminating', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' }, status: { phase: 'Running' } }],
    [
      'Init:1/2',
      {
        spec: { initContainers: initial },
        status: {
          phase: 'Pending',
          initContainerStatuses: [
            { ...done, name: 'i' },
            { name: 'j', state: { running: {} } },
          ],
        },
      },
    ],
    [
      'Init:CrashLoopBackOff',
      { spec: { initContainers: initial }, status: { phase: 'Pending', initContainerStatuses: [crashed] } },
    ],
    [
      'Running',
      {
        spec: { initContainers: [{ name: 'i', restartPolicy: 'Always' }] },
        status: {
          phase: 'Running',
          initContainerStatuses: [{ name: 'i', started: true, state: { running: {} } }],
          containerStatuses: [running],
        },
      },
    ],
    ['Unknown', null],
  ])('is %s', (state, pod) => {
    expect(podStateOf(pod)).toBe(state);
  });
});
