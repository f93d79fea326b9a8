import { FairSlots } from '@svc/runtime';
import { describe, expect, it } from 'vitest';
import type { Sandbox } from './sandbox.ts';
import { StartPlaces } from './start-places.ts';

const slots = () => new FairSlots({ capacity: 1, maxWaiting: 2, refuse: () => new Error('full') });
const of = (cluster: string | null): Pick<Sandbox, 'workspaceUuid' | 'cluster'> => ({
  workspaceUuid: 'workspace',
  cluster: cluster === null ? null : ({ id: cluster } as Sandbox['cluster']), // only the id counts
});
const never = (): Promise<never> => new Promise(() => undefined);

describe('the places of starts', () => {
  it('are those of each cluster: one that does not answer delays no other, and not this node', async () => {
    const places = new StartPlaces({ here: slots(), inCluster: slots });
    const stalled = new AbortController();
    void places.run(of('stalled'), never);
    const queued = places.run(of('stalled'), async () => 'too late', stalled.signal);
    expect(await places.run(of('other'), async () => 'other')).toBe('other');
    expect(await places.run(of(null), async () => 'here')).toBe('here');
    expect(places.waiting).toBe(1);
    stalled.abort(new Error('the time is over'));
    await expect(queued).rejects.toThrow('the time is over');
    expect(places.waiting).toBe(0);
  });

  it('of a cluster are not those of its removals, which transfers would keep waiting for hours', async () => {
    const places = new StartPlaces({ here: slots(), inCluster: slots });
    void places.run(of('slow'), never);
    let removals = 0;
    await places.remove(of('slow'), async () => void (removals += 1));
    void places.remove(of('slow'), never);
    void places.remove(of('slow'), async () => void (removals += 1));
    expect([removals, places.waiting]).toEqual([1, 1]);
  });

  it('are free for others during a wait that needs none, and taken again after it', async () => {
    const places = new StartPlaces({ here: slots(), inCluster: slots });
    const steps: string[] = [];
    const node = Promise.withResolvers<void>();
    const first = places.run(of(null), async ({ leaveFor }) => {
      await leaveFor(() => node.promise);
      steps.push('first');
    });
    const second = Promise.withResolvers<void>();
    const holding = places.run(of(null), async () => {
      node.resolve();
      await second.promise;
      steps.push('second');
    });
    second.resolve();
    await Promise.all([first, holding]);
    expect(steps).toEqual(['second', 'first']);
  });

  it('are not taken again after a wait that failed', async () => {
    const places = new StartPlaces({ here: slots(), inCluster: slots });
    const failing = places.run(of(null), async ({ leaveFor }) => {
      const failure = await leaveFor(() => Promise.reject(new Error('no node'))).catch((error: unknown) => error);
      expect(await places.run(of(null), async () => 'free')).toBe('free');
      throw failure;
    });
    await expect(failing).rejects.toThrow('no node');
    expect(await places.run(of(null), async () => 'free')).toBe('free');
  });
});
