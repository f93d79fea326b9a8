/** Time as the session sees it; a test passes one that it moves itself. */
export interface MuxClock {
  /** Milliseconds from any beginning, never backwards. */
  nowMs(): number;
  /** Runs the callback once; the answer cancels it. */
  setTimer(callback: () => void, delayMs: number): () => void;
}

export const systemClock: MuxClock = {
  nowMs: () => performance.now(),
  setTimer: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
