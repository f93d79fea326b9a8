import type { UsagePeriods, UsageResolution } from '../ports/usage-history.ts';

export const PERIOD_MS: Readonly<Record<UsageResolution, number>> = { hour: 3_600_000, day: 86_400_000 };

/** Start of the period that contains a time. Days are in UTC. */
export function periodStart(timeMs: number, resolution: UsageResolution): number {
  return Math.floor(timeMs / PERIOD_MS[resolution]) * PERIOD_MS[resolution];
}

export function periodsAt(timeMs: number): UsagePeriods {
  return { hourMs: periodStart(timeMs, 'hour'), dayMs: periodStart(timeMs, 'day') };
}
