import type { HeartbeatPoint } from '../../../api/clusters.ts';
import type { TimedValue, TimeSpan } from '../../../ui/time-plot-scale.ts';
import { SPANS, type HistorySpan } from './history-search.ts';

/** One time step: the mean of its heartbeats. */
export interface HeartbeatStep {
  atMs: number;
  /** Fractions of the nodes' allocatable resources. */
  cpuUsage: number;
  memoryUsage: number;
  activePods: number;
}

/** Returns the plotted time in whole steps; the last one is still in progress. */
export function spanOf(span: HistorySpan, nowMs: number): TimeSpan {
  const { lengthMs, stepMs } = SPANS[span];
  const toMs = (Math.floor(nowMs / stepMs) + 1) * stepMs;
  return { fromMs: toMs - lengthMs, toMs, stepMs };
}

/** Oldest first. A ten-minute average is weighted by its number of heartbeats. */
export function stepsOf(points: readonly HeartbeatPoint[], { fromMs, stepMs }: TimeSpan): HeartbeatStep[] {
  const sums = new Map<number, HeartbeatStep & { samples: number }>();
  for (const point of points) {
    const atMs = Math.floor(Date.parse(point.at) / stepMs) * stepMs;
    if (atMs < fromMs) continue;
    const sum = sums.get(atMs) ?? { atMs, cpuUsage: 0, memoryUsage: 0, activePods: 0, samples: 0 };
    sum.samples += point.samples;
    sum.cpuUsage += point.cpu_usage * point.samples;
    sum.memoryUsage += point.memory_usage * point.samples;
    sum.activePods += point.active_pods * point.samples;
    sums.set(atMs, sum);
  }
  return [...sums.values()]
    .map(({ atMs, samples, cpuUsage, memoryUsage, activePods }) => ({
      atMs,
      cpuUsage: cpuUsage / samples,
      memoryUsage: memoryUsage / samples,
      activePods: activePods / samples,
    }))
    .toSorted((one, other) => one.atMs - other.atMs);
}

export function valuesOf(
  steps: readonly HeartbeatStep[],
  field: 'cpuUsage' | 'memoryUsage' | 'activePods',
  factor = 1,
): TimedValue[] {
  return steps.map((step) => ({ atMs: step.atMs, value: step[field] * factor }));
}
