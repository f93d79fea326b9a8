import { createLogger } from '@svc/telemetry';
import { fakeClock, type FakeClock } from '@svc/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { ActiveReads } from './active-reads.ts';
import type { TrashCommands } from './ports/trash.ts';
import { ReadFence } from './read-fence.ts';

const BLOB = { kind: 'blob', blobId: 'b1' } as const;

describe('ReadFence', () => {
  let clock: FakeClock;
  let reads: ActiveReads;
  let held: Parameters<TrashCommands['holdContent']>[0][];
  let fence: ReadFence;
  beforeEach(() => {
    clock = fakeClock();
    reads = new ActiveReads(clock.nowMs);
    held = [];
    const metadata = { holdContent: async (input: (typeof held)[number]) => void held.push(input) };
    const log = createLogger({ level: 'silent', name: 'test' });
    fence = new ReadFence({ metadata, activeReads: reads, holder: 'one', graceMs: 3_000, clock, log });
  });

  it('announces a read that lasts, and none that is over', async () => {
    const leave = reads.enter(BLOB);
    reads.enter({ kind: 'manifest', manifestId: 'm1' })();
    await fence.announce();
    expect(held).toEqual([]);
    await clock.advance(1_000);
    await fence.announce();
    const nowMs = clock.nowMs();
    expect(held).toEqual([{ holder: 'one', contentIds: ['b1'], nowMs, untilMs: nowMs + 15_000 }]);
    leave();
    await fence.announce();
    expect(held).toHaveLength(1);
  });

  it('counts a read from the start of the first of overlapping ones', async () => {
    const first = reads.enter(BLOB);
    await clock.advance(900);
    reads.enter(BLOB);
    first();
    await clock.advance(100);
    await fence.announce();
    expect(held.map(({ contentIds }) => contentIds)).toEqual([['b1']]);
  });

  it('announces any number of reads in bounded transactions', async () => {
    for (let index = 0; index < 450; index += 1) reads.enter({ kind: 'blob', blobId: `b${index}` });
    await clock.advance(1_000);
    await fence.announce();
    expect(held.map(({ contentIds }) => contentIds.length)).toEqual([200, 200, 50]);
  });

  it('announces again while the read lasts, and stops with its signal', async () => {
    const stop = new AbortController();
    const running = fence.run(stop.signal);
    reads.enter(BLOB);
    await clock.advance(1_000);
    await clock.advance(1_000);
    await expect.poll(() => held.length).toBeGreaterThan(0);
    stop.abort();
    await running;
  });
});
