import { setImmediate, setTimeout } from 'node:timers/promises';

interface FakeTimer {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** A clock that only a test advances. Pass it as a `clock`, or its members as the `now` or `nowMs` of a constructor. */
export interface FakeClock {
  now(): Date;
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Runs the callback once when the clock reaches that time; returns a function that cancels it. */
  setTimer(callback: () => void, delayMs: number): () => void;
  /** Advances the clock and runs due timers in order; promises that wait on them settle first. */
  advance(byMs: number): Promise<void>;
  /** Number of pending timers: a test of `close()` expects 0. */
  pendingTimers(): number;
}

export function fakeClock(start = '2026-01-01T00:00:00.000Z'): FakeClock {
  let currentMs = Date.parse(start);
  let order = 0;
  const timers = new Set<FakeTimer>();

  const setTimer = (callback: () => void, delayMs: number): (() => void) => {
    const timer = { dueMs: currentMs + Math.max(0, delayMs), order: order++, run: callback };
    timers.add(timer);
    return () => void timers.delete(timer);
  };

  return {
    now: () => new Date(currentMs),
    nowMs: () => currentMs,
    setTimer,
    advance: async (byMs) => {
      const targetMs = currentMs + byMs;
      for (let next = earliest(timers, targetMs); next !== undefined; next = earliest(timers, targetMs)) {
        currentMs = Math.max(currentMs, next.dueMs);
        timers.delete(next);
        next.run();
        await settle();
      }
      currentMs = targetMs;
      await settle();
    },
    pendingTimers: () => timers.size,
  };
}

function earliest(timers: ReadonlySet<FakeTimer>, untilMs: number): FakeTimer | undefined {
  return [...timers]
    .filter((timer) => timer.dueMs <= untilMs)
    .toSorted((left, right) => left.dueMs - right.dueMs || left.order - right.order)[0];
}

const MAX_SETTLE_MS = 1_000;

/** Waits one turn of the event loop, after all ready promise jobs, and until file operations such as syncs have ended. */
async function settle(): Promise<void> {
  const until = performance.now() + MAX_SETTLE_MS;
  await setImmediate();
  while (isUsingFiles() && performance.now() < until) await setTimeout(1); // a sync takes milliseconds
}

function isUsingFiles(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
}
