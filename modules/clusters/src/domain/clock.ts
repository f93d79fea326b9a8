/** Time as a dependency, so that tests can control it. */
export interface Clock {
  now(): Date;
  nowMs(): number;
  /** Runs the callback once after the delay (milliseconds); the returned function cancels it. */
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

/** ISO 8601 UTC with milliseconds. All stored times use this format, so text order is time order. */
export function timestampAfter(now: Date, delayMs: number): string {
  return new Date(now.getTime() + delayMs).toISOString();
}
