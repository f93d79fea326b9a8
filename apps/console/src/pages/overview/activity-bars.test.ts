import { describe, expect, it } from 'vitest';
import { activityBars } from './activity-bars.ts';

const NOW = Date.parse('2026-11-21T10:30:00.000Z');
const minutesAgo = (minutes: number): number => NOW - minutes * 60_000;

describe('the activity of the last day', () => {
  it('has one bar for each of 24 hours, newest last', () => {
    const { bars, total } = activityBars([minutesAgo(1), minutesAgo(59), minutesAgo(61)], NOW);
    expect(bars).toHaveLength(24);
    expect(bars.slice(-3).map((bar) => bar.value)).toEqual([0, 1, 2]);
    expect(total).toBe(3);
  });

  it('omits anything older than a day', () => {
    expect(activityBars([minutesAgo(24 * 60 + 1)], NOW).total).toBe(0);
  });

  it('counts a slightly fast clock as now', () => {
    expect(activityBars([minutesAgo(-1)], NOW).bars.at(-1)?.value).toBe(1);
  });
});
