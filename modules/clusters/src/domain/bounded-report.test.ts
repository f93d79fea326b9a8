import { describe, expect, it } from 'vitest';
import { boundedDetails, parseTime } from './bounded-report.ts';

describe('a report of a hostile agent', () => {
  it('keeps its details unchanged, or the first ones that fit', () => {
    const usual = { image: 'nginx', node: 'n-1', counts: { restarts: 3 } };
    expect(boundedDetails(usual)).toBe(usual);
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`key-${index}`, 'x'.repeat(5000)]));
    const kept = boundedDetails({ reason: 'first', ...many });
    expect(JSON.stringify(kept).length).toBeLessThan(17 * 1024);
    expect(kept).toMatchObject({ reason: 'first', truncated: true });
    expect(boundedDetails({ ['k'.repeat(100_000)]: 1 })).toEqual({ truncated: true });
    expect(boundedDetails({ deep: { list: Array.from({ length: 20_000 }, () => 1) } })['deep']).toHaveLength(1000);
  });

  it('keeps its own time, even hours off; an invalid time becomes now', () => {
    const now = new Date('2026-01-01T00:00:00.000Z');
    expect(parseTime('2026-01-01T09:00:00+05:30', now)).toBe('2026-01-01T03:30:00.000Z');
    expect(parseTime('1999-01-01T00:00:00Z', now)).toBe('1999-01-01T00:00:00.000Z');
    expect(parseTime('2026-99-99T00:00:00Z', now)).toBe('2026-01-01T00:00:00.000Z');
  });
});
