export type HistorySpan = '1h' | '6h' | '24h' | '7d';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Heartbeats arrive every half minute and are kept for six hours, then as ten-minute averages. */
export const SPANS: Readonly<Record<HistorySpan, { label: string; lengthMs: number; stepMs: number }>> = {
  '1h': { label: 'Last hour', lengthMs: HOUR_MS, stepMs: MINUTE_MS / 2 },
  '6h': { label: 'Last 6 hours', lengthMs: 6 * HOUR_MS, stepMs: 2 * MINUTE_MS },
  '24h': { label: 'Last 24 hours', lengthMs: 24 * HOUR_MS, stepMs: 10 * MINUTE_MS },
  '7d': { label: 'Last 7 days', lengthMs: 7 * 24 * HOUR_MS, stepMs: HOUR_MS },
};

export function isSpan(value: unknown): value is HistorySpan {
  return typeof value === 'string' && Object.hasOwn(SPANS, value);
}

export interface HistorySearch {
  span?: HistorySpan;
}

export function parseHistorySearch({ span }: Record<string, unknown>): HistorySearch {
  return isSpan(span) ? { span } : {};
}
