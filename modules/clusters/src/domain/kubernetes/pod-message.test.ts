import { describe, expect, it } from 'vitest';
import { podMessageOf } from './pod-message.ts';

const withStatus = (status: object): object => ({ status });
const container = (state: object, lastState: object = {}): object =>
  withStatus({ containerStatuses: [{ name: 'web', state, lastState }] });

describe('the message of a pod', () => {
  it('is absent for a pod that is running, has succeeded or is starting', () => {
    for (const pod of [
      {},
      container({ running: {} }, { terminated: { exitCode: 1 } }),
      container({ terminated: { exitCode: 0, reason: 'Completed' } }),
      container({ waiting: { reason: 'ContainerCreating' } }),
    ]) {
      expect(podMessageOf(pod)).toBeNull();
    }
  });

  it('gives the exit code of a crashing container and says that it is restarted', () => {
    const pod = container(
      { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 20s restarting failed container' } },
      { terminated: { exitCode: 137, reason: 'OOMKilled', message: 'the last words of the program' } },
    );
    expect(podMessageOf(pod)).toBe(
      'Container web: it ended with exit code 137 (OOMKilled); back-off 20s restarting failed container',
    );
  });

  it('gives the image pull error, truncated', () => {
    const pod = container({ waiting: { reason: 'ErrImagePull', message: `pull ${'x'.repeat(5000)}` } });
    expect(podMessageOf(pod)).toMatch(/^Container web: pull x+$/);
    expect(podMessageOf(pod)).toHaveLength(1000);
  });

  it('gives the exit code of a failed init container', () => {
    const failed = { name: 'prepare', state: { terminated: { exitCode: 2, reason: 'Error' } } };
    const waiting = { name: 'web', state: { waiting: { reason: 'PodInitializing' } } };
    expect(podMessageOf(withStatus({ initContainerStatuses: [failed], containerStatuses: [waiting] }))).toBe(
      'Container prepare: it ended with exit code 2',
    );
  });

  it("gives the scheduler's message and the reason for an eviction", () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }];
    expect(podMessageOf(withStatus({ conditions }))).toBe('0/3 nodes are available');
    expect(podMessageOf(withStatus({ reason: 'Evicted', message: 'The node was low on memory' }))).toBe(
      'The node was low on memory',
    );
  });
});
