import { describe, expect, it } from 'vitest';
import { TrafficCounters } from './traffic-counters.ts';

const bucket = { id: 1, workspaceUuid: 'w' };
const other = { id: 2, workspaceUuid: 'w' };

describe('TrafficCounters', () => {
  it('sums by bucket until taken, then starts again at zero', () => {
    const counters = new TrafficCounters();
    counters.add(bucket, 1, 10);
    counters.add(bucket, 2, 20);
    counters.add(other, 5, 0);
    expect(counters.take()).toEqual([
      { bucketId: 1, workspaceUuid: 'w', requestCount: 2, bytesIn: 3, bytesOut: 30 },
      { bucketId: 2, workspaceUuid: 'w', requestCount: 1, bytesIn: 5, bytesOut: 0 },
    ]);
    expect(counters.take()).toEqual([]);
  });

  it('adds unrecorded traffic back to what has arrived since', () => {
    const counters = new TrafficCounters();
    counters.add(bucket, 1, 10);
    const taken = counters.take();
    counters.add(bucket, 2, 20);
    counters.putBack(taken);
    expect(counters.take()).toEqual([{ bucketId: 1, workspaceUuid: 'w', requestCount: 2, bytesIn: 3, bytesOut: 30 }]);
  });

  it('stops at the bucket limit and reports the number of uncounted requests', () => {
    const counters = new TrafficCounters({ maxBuckets: 1 });
    counters.add(bucket, 1, 1);
    counters.add(other, 1, 1);
    counters.add(other, 1, 1);
    counters.add(bucket, 1, 1);
    expect(counters.take()).toEqual([{ bucketId: 1, workspaceUuid: 'w', requestCount: 2, bytesIn: 2, bytesOut: 2 }]);
    expect(counters.takeUncounted()).toBe(2);
    expect(counters.takeUncounted()).toBe(0);
  });
});
