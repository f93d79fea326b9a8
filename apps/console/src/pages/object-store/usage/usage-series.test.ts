import { describe, expect, it } from 'vitest';
import { beginningOf, parseUsageSearch } from './usage-search.ts';
import { formatPeriod, spanOf, valuesOf } from './usage-series.ts';

const NOW_MS = Date.parse('2026-11-21T09:30:00Z');
const point = { object_count: 2, size_bytes: 30, request_count: 4, bytes_in: 5, bytes_out: 6 };

describe('usage series', () => {
  it('label days by their UTC date, with the year if it differs', () => {
    expect(formatPeriod(Date.parse('2026-11-01T00:00:00Z'), 'day', NOW_MS)).toBe('1 Nov');
    expect(formatPeriod(Date.parse('2025-11-01T00:00:00Z'), 'day', NOW_MS)).toBe('1 Nov 2025');
  });

  it('span whole periods, including the one in progress', () => {
    const usage = { bucket: null, resolution: 'day', quota: null, points: [] } as const;
    const span = spanOf({ ...usage, points: [], from: '2026-11-01T00:00:00.000Z', to: '2026-11-21T09:30:00.000Z' });
    expect(new Date(span.toMs).toISOString()).toBe('2026-11-22T00:00:00.000Z');
    expect(span.stepMs).toBe(86_400_000);
  });

  it('select one figure from all points', () => {
    const at = '2026-11-01T00:00:00.000Z';
    const usage = {
      bucket: null,
      resolution: 'day',
      quota: null,
      from: at,
      to: at,
      points: [{ at, ...point }],
    } as const;
    expect(valuesOf({ ...usage, points: [...usage.points] }, 'bytes_out')).toEqual([
      { atMs: Date.parse(at), value: 6 },
    ]);
  });

  it('request as many periods as the span has', () => {
    expect(beginningOf('30d', NOW_MS).toISOString()).toBe('2026-10-23T09:30:00.000Z');
    expect(beginningOf('48h', NOW_MS).toISOString()).toBe('2026-11-19T10:30:00.000Z');
  });

  it('keep only a known, non-default span in the URL', () => {
    expect(parseUsageSearch({ span: '48h' })).toEqual({ span: '48h' });
    for (const span of ['30d', '5y', 7, undefined]) expect(parseUsageSearch({ span })).toEqual({});
  });
});
