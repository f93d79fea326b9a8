import { describe, expect, it } from 'vitest';
import type { StartPlace } from '../../../domain/driver.ts';
import { awaitUp } from './pod-failure.ts';
import { toPodView, type PodView } from './pod-view.ts';

const pod = (status: Record<string, unknown>): PodView =>
  toPodView({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod', uid: 'u', resourceVersion: '1' }, status });
const CREATED = pod({ phase: 'Pending' });
const WITHOUT_NODE = pod({
  phase: 'Pending',
  conditions: [
    { type: 'PodScheduled', status: 'False', message: '0/3 nodes are available: 3 Insufficient nvidia.com/gpu.' },
  ],
});
const SCHEDULED = pod({ phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] });
const UP = pod({
  phase: 'Running',
  conditions: [{ type: 'PodScheduled', status: 'True' }],
  containerStatuses: [{ name: 'sandbox', state: { running: {} } }],
});

/** A pod that goes through the states one by one, as the caller waits for others. */
function scripted(states: readonly PodView[], log: string[]) {
  let at = 0;
  const place: StartPlace = {
    leaveFor: async (wait) => {
      log.push('left the place');
      const found = await wait();
      log.push('took a place');
      return found;
    },
  };
  const watch = {
    find: () => states[at] ?? null,
    until: async (_name: string, isWanted: (view: PodView | null) => boolean, signal: AbortSignal) => {
      for (; at < states.length; at += 1) if (isWanted(states[at] ?? null)) return states[at] ?? null;
      at -= 1;
      signal.throwIfAborted();
      throw new Error('the states are over');
    },
  };
  return { watch, place };
}

describe('a pod that starts', () => {
  it('waits for a node without its place', async () => {
    const log: string[] = [];
    const { watch, place } = scripted([CREATED, WITHOUT_NODE, SCHEDULED, UP], log);
    await awaitUp(watch, { name: 'pod', image: 'busybox', signal: new AbortController().signal, place });
    expect(log).toEqual(['left the place', 'took a place']);
  });

  it('keeps its place if a node has room', async () => {
    const log: string[] = [];
    const { watch, place } = scripted([CREATED, SCHEDULED, UP], log);
    await awaitUp(watch, { name: 'pod', image: 'busybox', signal: new AbortController().signal, place });
    expect(log).toEqual([]);
  });

  it('says what no node has, without a place by then', async () => {
    const log: string[] = [];
    const { watch, place } = scripted([CREATED, WITHOUT_NODE], log);
    const starting = { name: 'pod', image: 'busybox', signal: AbortSignal.abort(new Error('late')), place };
    await expect(awaitUp(watch, starting)).rejects.toMatchObject({
      code: 'NO_CAPACITY',
      details: { reason: '0/3 nodes are available: 3 Insufficient nvidia.com/gpu.' },
    });
    expect(log).toEqual(['left the place']);
  });
});
