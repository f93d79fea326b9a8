import { describe, expect, it } from 'vitest';
import { parseQuantity } from './quantity.ts';

describe('Kubernetes quantities', () => {
  it.each([
    ['1', 1],
    ['1Gi', 2 ** 30],
    ['250m', 0.25],
    ['1500n', 1.5e-6],
    ['2Ki', 2048],
    ['1.5Gi', 1.5 * 2 ** 30],
    ['1e3', 1000],
    ['12E', 12e18],
    ['.5', 0.5],
    [4, 4],
  ])('parses %j as %d', (text, value) => {
    expect(parseQuantity(text)).toBeCloseTo(value, 12);
  });

  it('divides fractions exactly', () => {
    expect(parseQuantity('1900m')).toBe(1.9);
  });

  it.each(['', 'x', '1 Gi', '1KB', '1Xi', null, undefined, {}])('rejects %j', (text) => {
    expect(parseQuantity(text)).toBeNull();
  });
});
