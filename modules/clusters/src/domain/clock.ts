/** Time as an argument, so that a test can move it. */
export interface Clock {
  now(): Date;
  nowMs(): number;
  /** Runs the callback once after the delay (milliseconds); the answer cancels it. */
  setTimer(callback: () => void, delayMs: number): () => void;
}

export function systemClock(): Clock {
  return {
    now: () => new Date(),
    nowMs: () => Date.now(),
    setTimer: (callback, delayMs) => {
      const timer = setTimeout(callback, delayMs);
      return () => clearTimeout(timer);
    },
  };
}

/** ISO 8601 UTC with milliseconds: the one form of every stored time, so that the order of text is the order of time. */
export function timestampAfter(now: Date, delayMs: number): string {
  return new Date(now.getTime() + delayMs).toISOString();
}
