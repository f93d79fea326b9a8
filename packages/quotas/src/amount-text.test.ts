import { describe, expect, it } from 'vitest';
import { formatAmount, parseLimit } from './amount-text.ts';

describe('parseLimit', () => {
  it.each([
    ['count', '20', 20],
    ['count', 'unlimited', null],
    ['cpus', '1.5', 1.5],
    ['bytes', '10GiB', 10 * 1024 ** 3],
    ['bytes', '1.5 KiB', 1536],
    ['mib', '2GiB', 2048],
    ['mib', '512', 512],
  ] as const)('parses a limit of %s: %s', (unit, text, amount) => {
    expect(parseLimit(unit, text)).toBe(amount);
  });

  it.each([
    ['count', '1.5'],
    ['count', '2GiB'],
    ['count', '-1'],
    ['count', 'many'],
    ['count', ''],
    ['bytes', '1GB'],
    ['mib', '1KiB'],
    ['bytes', '9999999TiB'],
  ] as const)('rejects a limit of %s: %s', (unit, text) => {
    expect(parseLimit(unit, text)).toBeUndefined();
  });
});

describe('formatAmount', () => {
  it.each([
    ['count', 20, '20'],
    ['count', null, 'unlimited'],
    ['per_second', 8, '8/s'],
    ['bytes', 512, '512 B'],
    ['bytes', 1536, '1.5 KiB'],
    ['mib', 2048, '2 GiB'],
  ] as const)('formats %s: %s', (unit, amount, text) => {
    expect(formatAmount(unit, amount)).toBe(text);
  });
});
