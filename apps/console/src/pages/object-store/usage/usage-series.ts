import type { Usage, UsageResolution } from '@svc/sdk';
import { formatMoment } from '../../../ui/format-time.ts';
import type { TimedValue, TimeSpan } from '../../../ui/time-plot-scale.ts';
import { PERIOD_MS } from './usage-search.ts';

/** Days are UTC; hours are in the user's time zone. */
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const dayOfYear = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});

/** Formats a period, such as `21 Nov`, `21 Nov 2025` for another year, or `21 Nov, 14:00`. */
export function formatPeriod(atMs: number, resolution: UsageResolution, nowMs: number): string {
  const at = new Date(atMs);
  if (resolution === 'hour') return formatMoment(atMs);
  return (at.getUTCFullYear() === new Date(nowMs).getUTCFullYear() ? day : dayOfYear).format(at);
}

/** Whole periods; the last one is still in progress. */
export function spanOf({ from, to, resolution }: Usage): TimeSpan {
  const stepMs = PERIOD_MS[resolution];
  return { fromMs: Date.parse(from), toMs: Math.ceil(Date.parse(to) / stepMs) * stepMs, stepMs };
}

export type UsageField = 'size_bytes' | 'object_count' | 'request_count' | 'bytes_in' | 'bytes_out';

export function valuesOf({ points }: Usage, field: UsageField): TimedValue[] {
  return points.map((point) => ({ atMs: Date.parse(point.at), value: point[field] }));
}
