import { describe, expect, it } from 'vitest';
import { formatCount, formatPercent, splitBytes } from './format-number.ts';
import { formatDuration, formatRelative } from './format-time.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');

describe('relative times', () => {
  it.each([
    ['2026-11-21T09:59:30.000Z', 'just now'],
    ['2026-11-21T10:00:30.000Z', 'in a moment'],
    ['2026-11-21T09:55:29.000Z', '5 min ago'],
    ['2026-11-21T09:00:30.000Z', '1 hr ago'],
    ['2026-11-20T09:00:00.000Z', '1 day ago'],
    ['2026-12-21T10:00:00.000Z', 'in 1 mo'],
    ['2025-12-01T10:00:00.000Z', '12 mo ago'],
    ['1970-01-01T12:00:00.000Z', '1 Jan 1970'],
  ])('formats %s as %s', (at, words) => {
    expect(formatRelative(Date.parse(at), NOW)).toBe(words);
  });
});

describe('durations', () => {
  it.each([
    [12, 'less than a minute'],
    [3599, '59 min'],
    [90_000, '1 d 1 h'],
  ])('formats %d seconds as %s', (seconds, words) => {
    expect(formatDuration(seconds)).toBe(words);
  });
});

describe('sizes', () => {
  it.each([
    [0, '0', 'B'],
    [1023, '1023', 'B'],
    [1024, '1', 'KiB'],
    [1_610_612_736, '1.5', 'GiB'],
    [150 * 1024 ** 2, '150', 'MiB'],
  ])('formats %d bytes as %s %s', (sizeBytes, figure, unit) => {
    expect(splitBytes(sizeBytes)).toEqual([figure, unit]);
  });

  it('groups the digits of large counts', () => {
    expect(formatCount(1234567)).toBe('1,234,567');
  });
});

describe('percents', () => {
  it('have a decimal when small', () => {
    expect([formatPercent(0.24), formatPercent(12.4)]).toEqual(['0.2%', '12%']);
  });
});
