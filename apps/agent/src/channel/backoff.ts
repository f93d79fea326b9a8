import type { ReconnectAdvice } from '@svc/protocol';

export interface BackoffRange {
  minMs: number;
  maxMs: number;
}

/** Pause of an agent that was replaced by another one, was rate-limited, or whose cluster was deleted. */
const SLOW_MIN_MS = 30_000;
const SLOW_MAX_MS = 60_000;
const SPREAD_AFTER_DRAIN_MS = 1000;

/**
 * Full jitter: a random delay up to a limit that doubles with each failed attempt, so that agents that lose the
 * platform at the same moment reconnect spread out. `random` returns 0..1.
 */
export function backoffDelayMs(attempt: number, range: BackoffRange, random: () => number): number {
  const limitMs = Math.min(range.maxMs, range.minMs * 2 ** Math.min(attempt + 1, 30));
  return Math.round(random() * limitMs);
}

/** The pause that a close code calls for. `attempt` counts failures since the last stable connection. */
export function delayAfterClose(
  advice: ReconnectAdvice,
  attempt: number,
  range: BackoffRange,
  random: () => number,
): number {
  switch (advice) {
    case 'immediately':
      return Math.round(random() * SPREAD_AFTER_DRAIN_MS) + (attempt > 0 ? backoffDelayMs(attempt, range, random) : 0);
    case 'slowly':
    case 'after-token-change':
      return SLOW_MIN_MS + Math.round(random() * (SLOW_MAX_MS - SLOW_MIN_MS));
    case 'soon':
      return backoffDelayMs(attempt, range, random);
  }
}
