import { fakeClock } from '@svc/testing';
import { describe, expect, it, vi } from 'vitest';
import { settleMemory } from './settle-memory.ts';

const MEBIBYTE = 2 ** 20;
const FIRST_MS = 3_000;
const LATER_MS = 30_000;

/** A process whose load and heap a test sets; a collection leaves 45 MiB. */
function createProcess({ usedMebibytes = 60, busy = 0 } = {}) {
  const clock = fakeClock();
  const state = { usedBytes: usedMebibytes * MEBIBYTE, busy };
  const collect = vi.fn(() => (state.usedBytes = 45 * MEBIBYTE));
  const stopping = new AbortController();
  settleMemory({
    collect,
    heapUsedBytes: () => state.usedBytes,
    busyShare: () => state.busy,
    onError: (error) => expect.fail(String(error)),
    signal: stopping.signal,
    clock,
  });
  return { clock, state, collect, stopping };
}

describe('settleMemory', () => {
  it('collects what the start left behind, once', async () => {
    const { clock, collect } = createProcess();
    await clock.advance(FIRST_MS);
    expect(collect).toHaveBeenCalledTimes(1);
    await clock.advance(10 * LATER_MS);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it('waits until the process is idle', async () => {
    const { clock, state, collect } = createProcess({ busy: 0.5 });
    await clock.advance(5 * FIRST_MS);
    expect(collect).not.toHaveBeenCalled();
    state.busy = 0.02;
    await clock.advance(FIRST_MS);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it('collects again after work that left much behind, never under load', async () => {
    const { clock, state, collect } = createProcess();
    await clock.advance(FIRST_MS);
    state.usedBytes += 7 * MEBIBYTE;
    await clock.advance(LATER_MS);
    expect(collect).toHaveBeenCalledTimes(1);
    state.usedBytes += 20 * MEBIBYTE;
    state.busy = 0.9;
    await clock.advance(LATER_MS);
    expect(collect).toHaveBeenCalledTimes(1);
    state.busy = 0;
    await clock.advance(LATER_MS);
    expect(collect).toHaveBeenCalledTimes(2);
  });

  it('leaves a large heap to V8, whose pauses are shorter', async () => {
    const { clock, state, collect } = createProcess({ usedMebibytes: 300 });
    await clock.advance(FIRST_MS);
    expect(collect).not.toHaveBeenCalled();
    state.usedBytes = 80 * MEBIBYTE;
    await clock.advance(FIRST_MS);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it('ends with the process', async () => {
    const { clock, collect, stopping } = createProcess();
    stopping.abort();
    await clock.advance(LATER_MS);
    expect(collect).not.toHaveBeenCalled();
  });
});
