import type { Bar } from '../../ui/plots.tsx';

const HOUR_MS = 60 * 60 * 1000;
const HOURS = 24;

export interface ActivityBars {
  bars: readonly Bar[];
  total: number;
}

/** Counts per hour over the last 24 whole hours and the current one, oldest first, in the user's time zone. */
export function activityBars(timesMs: readonly number[], nowMs: number): ActivityBars {
  const counts = Array.from({ length: HOURS }, () => 0);
  let total = 0;
  for (const atMs of timesMs) {
    const age = Math.floor((nowMs - atMs) / HOUR_MS);
    const index = HOURS - 1 - Math.max(0, age);
    const before = counts[index];
    if (before === undefined) continue;
    counts[index] = before + 1;
    total += 1;
  }
  const bars = counts.map((value, index) => ({ label: hourLabel(nowMs - (HOURS - 1 - index) * HOUR_MS), value }));
  return { bars, total };
}

function hourLabel(endMs: number): string {
  const time = (atMs: number): string =>
    new Date(atMs).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  return `${time(endMs - HOUR_MS)} to ${time(endMs)}`;
}
