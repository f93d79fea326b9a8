/** Time as a dependency, so that tests can control it. */
export interface Clock {
  now(): Date;
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Runs the callback once; the returned function cancels it. */
  setTimer(callback: () => void, delayMs: number): () => void;
}

/** The clock of the process. Its timers keep the process alive. */
export const systemClock: Clock = {
  now: () => new Date(),
  nowMs: () => Date.now(),
  setTimer: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/** The clock of the process, with timers that do not keep the process alive. */
export const backgroundClock: Clock = {
  ...systemClock,
  setTimer: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

/** For durations: its milliseconds count from an arbitrary origin and never jump. Its timers keep the process alive. */
export const monotonicClock: Pick<Clock, 'nowMs' | 'setTimer'> = {
  nowMs: () => performance.now(),
  setTimer: systemClock.setTimer,
};

/** Waits, or returns early without an error when the signal aborts. */
export function pause(clock: Pick<Clock, 'setTimer'>, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const done = (): void => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.setTimer(done, delayMs);
    signal.addEventListener('abort', done, { once: true });
  });
}
