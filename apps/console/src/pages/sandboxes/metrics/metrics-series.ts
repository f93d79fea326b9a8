import type { SandboxMetrics, SandboxUsage } from '@svc/sdk';
import type { TimedValue, TimeSpan } from '../../../ui/time-plot-scale.ts';

export type MetricsSpan = '15m' | '1h' | '2h';

export const SPANS: Readonly<Record<MetricsSpan, { label: string; lengthMs: number }>> = {
  '15m': { label: 'Last 15 minutes', lengthMs: 15 * 60_000 },
  '1h': { label: 'Last hour', lengthMs: 3_600_000 },
  '2h': { label: 'Last 2 hours', lengthMs: 7_200_000 },
};

export function isSpan(value: unknown): value is MetricsSpan {
  return typeof value === 'string' && Object.hasOwn(SPANS, value);
}

export interface MetricsSearch {
  span?: MetricsSpan;
}

export function parseMetricsSearch({ span }: Record<string, unknown>): MetricsSearch {
  return isSpan(span) ? { span } : {};
}

type Field = 'cpu_cores' | 'memory_bytes' | 'pids' | 'disk_bytes';

/** Values of one metric over time, oldest first; omits those unknown to the driver. */
export function valuesOf({ samples, current }: SandboxMetrics, field: Field, factor = 1): TimedValue[] {
  return [...samples, current].flatMap((sample) => {
    const value = sample[field];
    return value === null ? [] : [{ atMs: Date.parse(sample.at), value: value * factor }];
  });
}

const USUAL_STEP_MS = 10_000;

/** The plotted time, in steps of the sampling interval. */
export function spanOf({ samples, current }: SandboxMetrics, span: MetricsSpan, nowMs: number): TimeSpan {
  const stepMs = stepOf(samples);
  // The clocks of platform and browser may differ slightly; treat the newest sample as now.
  const newestMs = Date.parse(current.at);
  const endMs = Math.abs(nowMs - newestMs) < 3 * stepMs ? newestMs : nowMs;
  return { fromMs: endMs - SPANS[span].lengthMs, toMs: endMs + stepMs, stepMs };
}

/** The median distance, so that gaps don't count. */
function stepOf(samples: readonly SandboxUsage[]): number {
  const times = samples.map(({ at }) => Date.parse(at));
  const distances = times.slice(1).map((time, index) => time - (times[index] ?? time));
  const sorted = distances.toSorted((one, other) => one - other);
  return Math.max(USUAL_STEP_MS, sorted[Math.floor(sorted.length / 2)] ?? USUAL_STEP_MS);
}
