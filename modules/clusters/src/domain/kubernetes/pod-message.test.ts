import { describe, expect, it } from 'vitest';
import { podMessageOf } from './pod-message.ts';

const withStatus = (status: object): object => ({ status });
const container = (state: object, lastState: object = {}): object =>
  withStatus({ containerStatuses: [{ name: 'web', state, lastState }] });

describe('why a pod does not run', () => {
  it('is nothing for one that runs, has ended well, or is on its way', () => {
    for (const pod of [
      {},
      container({ running: {} }, { terminated: { exitCode: 1 } }),
      container({ terminated: { exitCode: 0, reason: 'Completed' } }),
      container({ waiting: { reason: 'ContainerCreating' } }),
    ]) {
      expect(podMessageOf(pod)).toBeNull();
    }
  });

  it('is the exit code of a container that crashes, and that it is started again', () => {
    const pod = container(
      { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 20s restarting failed container' } },
      { terminated: { exitCode: 137, reason: 'OOMKilled', message: 'the last words of the program' } },
    );
    expect(podMessageOf(pod)).toBe(
      'Container web: it ended with exit code 137 (OOMKilled); back-off 20s restarting failed container',
    );
  });

  it('is what keeps an image from being pulled, within bounds', () => {
    const pod = container({ waiting: { reason: 'ErrImagePull', message: `pull ${'x'.repeat(5000)}` } });
    expect(podMessageOf(pod)).toMatch(/^Container web: pull x+$/);
    expect(podMessageOf(pod)).toHaveLength(1000);
  });

  it('is the exit code of an init container that failed', () => {
    const failed = { name: 'prepare', state: { terminated: { exitCode: 2, reason: 'Error' } } };
    const waiting = { name: 'web', state: { waiting: { reason: 'PodInitializing' } } };
    expect(podMessageOf(withStatus({ initContainerStatuses: [failed], containerStatuses: [waiting] }))).toBe(
      'Container prepare: it ended with exit code 2',
    );
  });

  it('is what the scheduler says, and why a pod was evicted', () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }];
    expect(podMessageOf(withStatus({ conditions }))).toBe('0/3 nodes are available');
    expect(podMessageOf(withStatus({ reason: 'Evicted', message: 'The node was low on memory' }))).toBe(
      'The node was low on memory',
    );
  });
});
