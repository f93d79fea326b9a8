import type { UsageResolution } from '@svc/sdk';

export type UsageSpan = '48h' | '7d' | '30d' | '12m';

export interface UsageSearch {
  /** Length of the period; defaults to 30 days. */
  span?: UsageSpan;
}

export const DEFAULT_SPAN: UsageSpan = '30d';

/** Periods of equal length; the newest one is still in progress. */
export const SPANS: Readonly<Record<UsageSpan, { label: string; resolution: UsageResolution; periods: number }>> = {
  '48h': { label: 'Last 48 hours', resolution: 'hour', periods: 48 },
  '7d': { label: 'Last 7 days', resolution: 'hour', periods: 7 * 24 },
  '30d': { label: 'Last 30 days', resolution: 'day', periods: 30 },
  '12m': { label: 'Last 12 months', resolution: 'day', periods: 366 },
};

export const PERIOD_MS: Readonly<Record<UsageResolution, number>> = { hour: 3_600_000, day: 86_400_000 };

export function parseUsageSearch({ span }: Record<string, unknown>): UsageSearch {
  return isSpan(span) && span !== DEFAULT_SPAN ? { span } : {};
}

/** Returns the start of the first period. */
export function beginningOf(span: UsageSpan, nowMs: number): Date {
  const { resolution, periods } = SPANS[span];
  return new Date(nowMs - (periods - 1) * PERIOD_MS[resolution]);
}

export function isSpan(value: unknown): value is UsageSpan {
  return typeof value === 'string' && Object.hasOwn(SPANS, value);
}
