/** Clock of a session; tests pass their own. */
export interface MuxClock {
  /** Monotonic milliseconds from an arbitrary origin. */
  nowMs(): number;
  /** Runs the callback once; returns a function that cancels it. */
  setTimer(callback: () => void, delayMs: number): () => void;
}

/** The process's own clock. */
export const systemClock: MuxClock = {
  nowMs: () => performance.now(),
  setTimer: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
