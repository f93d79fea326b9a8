import { describe, expect, it } from 'vitest';
import { amountText, limitDraft, parseDraft } from './quota-amounts.ts';

describe('the quota field', () => {
  it.each([
    ['count', 20, '20'],
    ['cpus', 1.5, '1.5'],
    ['bytes', 10 * 1024 ** 3, '10 GiB'],
    ['mib', 2048, '2 GiB'],
    ['count', null, ''],
  ] as const)('parses its own output for %s: %s', (unit, limit, text) => {
    expect(limitDraft({ unit, limit })).toBe(text);
    expect(parseDraft(unit, text)).toEqual({ limit });
  });

  it.each([
    ['count', '1.5'],
    ['count', '-1'],
    ['bytes', 'much'],
    ['mib', '1 KiB'],
    ['cpus', 'two'],
  ] as const)('rejects for %s: %s', (unit, text) => {
    expect(parseDraft(unit, text)).toHaveProperty('fault');
  });
});

describe('an amount', () => {
  it.each([
    ['mib', 1536, '1.5 GiB'],
    ['per_second', 4000, '4,000 per second'],
    ['cpus', 0.25, '0.25'],
  ] as const)('of %s: %s', (unit, amount, text) => {
    expect(amountText(unit, amount)).toBe(text);
  });
});
