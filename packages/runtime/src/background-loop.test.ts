import { describe, expect, it, vi } from 'vitest';
import { fakeClock } from '@svc/testing';
import { BackgroundLoop, type BackgroundLoopOptions } from './background-loop.ts';

const INTERVAL_MS = 1_000;

/** A loop on a fake clock, whose runs are counted. */
function createLoop(options: Partial<BackgroundLoopOptions> = {}) {
  const clock = fakeClock();
  const run = vi.fn(options.run ?? (async () => undefined));
  const onError = vi.fn<BackgroundLoopOptions['onError']>();
  const loop = new BackgroundLoop({ intervalMs: INTERVAL_MS, onError, clock, ...options, run });
  return { clock, run, onError, loop };
}

/** Work that a test ends. Every run waits for the same end. */
function createWork() {
  const { promise, resolve: end, reject: fail } = Promise.withResolvers<void>();
  return { run: () => promise, end, fail };
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.finally(() => (settled = true));
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe('BackgroundLoop', () => {
  it('runs first after the interval', async () => {
    const { clock, run, loop } = createLoop();
    loop.start();
    expect(run).not.toHaveBeenCalled();
    await clock.advance(INTERVAL_MS - 1);
    expect(run).not.toHaveBeenCalled();
    await clock.advance(1);
    expect(run).toHaveBeenCalledTimes(1);
    await clock.advance(2 * INTERVAL_MS);
    expect(run).toHaveBeenCalledTimes(3);
  });

  it('runs at the start if it should', async () => {
    const { clock, run, loop } = createLoop({ runsAtStart: true });
    loop.start();
    expect(run).toHaveBeenCalledTimes(1);
    await clock.advance(0); // the run ends
    await clock.advance(INTERVAL_MS);
    expect(run).toHaveBeenCalledTimes(2);
  });

  it('never overlaps itself, and counts the interval from the end of a run', async () => {
    const work = createWork();
    const { clock, run, loop } = createLoop({ run: work.run });
    loop.start();
    await clock.advance(5 * INTERVAL_MS);
    expect(run).toHaveBeenCalledTimes(1);
    expect(clock.pendingTimers()).toBe(0);
    work.end();
    await clock.advance(0);
    await clock.advance(INTERVAL_MS - 1);
    expect(run).toHaveBeenCalledTimes(1);
    await clock.advance(1);
    expect(run).toHaveBeenCalledTimes(2);
  });

  it('runs once when it is started twice', async () => {
    const { clock, run, loop } = createLoop();
    loop.start();
    loop.start();
    await clock.advance(INTERVAL_MS);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it.each([
    [
      'rejects',
      async () => {
        throw new Error('no database');
      },
    ],
    [
      'throws',
      () => {
        throw new Error('no database');
      },
    ],
  ])('reports a run that %s, and goes on after the interval', async (_how, fail) => {
    const { clock, run, onError, loop } = createLoop({ run: fail });
    loop.start();
    await clock.advance(INTERVAL_MS);
    expect(onError).toHaveBeenCalledWith(new Error('no database'), expect.objectContaining({ aborted: false }));
    await clock.advance(INTERVAL_MS);
    expect(run).toHaveBeenCalledTimes(2);
    expect(onError).toHaveBeenCalledTimes(2);
  });

  it('asks for the interval after each run', async () => {
    const intervals = [10, 500, 20];
    const { clock, run, loop } = createLoop({ intervalMs: () => intervals.shift() ?? INTERVAL_MS });
    loop.start();
    await clock.advance(10);
    expect(run).toHaveBeenCalledTimes(1);
    await clock.advance(499);
    expect(run).toHaveBeenCalledTimes(1);
    await clock.advance(1 + 20);
    expect(run).toHaveBeenCalledTimes(3);
  });

  describe('wake', () => {
    it('starts the next run at once, and the interval again', async () => {
      const { clock, run, loop } = createLoop();
      loop.start();
      await clock.advance(INTERVAL_MS - 1);
      loop.wake();
      await clock.advance(0);
      expect(run).toHaveBeenCalledTimes(1);
      await clock.advance(INTERVAL_MS - 1);
      expect(run).toHaveBeenCalledTimes(1);
      await clock.advance(1);
      expect(run).toHaveBeenCalledTimes(2);
    });

    it('during a run starts one more after it', async () => {
      const work = createWork();
      const { clock, run, loop } = createLoop({ run: work.run });
      loop.start();
      await clock.advance(INTERVAL_MS);
      loop.wake();
      loop.wake();
      expect(run).toHaveBeenCalledTimes(1);
      work.end();
      await clock.advance(0);
      expect(run).toHaveBeenCalledTimes(2);
      expect(clock.pendingTimers()).toBe(1);
    });
  });

  describe.each([
    {
      by: 'close',
      begin: () => {
        const { loop, ...rest } = createLoop();
        loop.start();
        return { ...rest, end: () => loop.close() };
      },
    },
    {
      by: 'the signal',
      begin: () => {
        const { loop, ...rest } = createLoop();
        const stop = new AbortController();
        const ended = loop.runUntil(stop.signal);
        return { ...rest, end: () => (stop.abort(), ended) };
      },
    },
  ])('ended by $by', ({ begin }) => {
    it('during the wait cancels the timer', async () => {
      const { clock, run, end } = begin();
      await end();
      expect(clock.pendingTimers()).toBe(0);
      await clock.advance(INTERVAL_MS);
      expect(run).not.toHaveBeenCalled();
    });

    it('during a run aborts its signal, waits for it, and starts no other', async () => {
      const { clock, run, onError, end } = begin();
      const work = createWork();
      let seen: AbortSignal | undefined;
      run.mockImplementation((signal) => ((seen = signal), work.run()));
      await clock.advance(INTERVAL_MS);
      expect(seen?.aborted).toBe(false);
      const ended = end();
      expect(seen?.aborted).toBe(true);
      expect(await isSettled(ended)).toBe(false);
      work.fail(new Error('cut short'));
      await ended;
      expect(onError.mock.calls).toEqual([[new Error('cut short'), seen]]);
      await clock.advance(INTERVAL_MS);
      expect(run).toHaveBeenCalledTimes(1);
    });
  });

  it('does not start once it is closed, or when its signal has aborted', async () => {
    const closed = createLoop({ runsAtStart: true });
    await closed.loop.close();
    closed.loop.start();
    await closed.loop.close();
    const late = createLoop();
    await late.loop.runUntil(AbortSignal.abort());
    for (const { run, clock } of [closed, late]) {
      expect(run).not.toHaveBeenCalled();
      expect(clock.pendingTimers()).toBe(0);
    }
  });

  it('ends on close even if it was started with a signal', async () => {
    const { clock, loop } = createLoop();
    loop.start(new AbortController().signal);
    await loop.close();
    expect(clock.pendingTimers()).toBe(0);
  });
});
