import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffDelayMs, delayAfterClose } from './backoff.ts';

const range = { minMs: 500, maxMs: 30_000 };

describe('the pause before the next attempt', () => {
  it('is random between zero and a limit that doubles up to the maximum', () => {
    const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.nat(1000), unit, (attempt, random) => {
        const delayMs = backoffDelayMs(attempt, range, () => random);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(Math.min(range.maxMs, range.minMs * 2 ** Math.min(attempt + 1, 20)));
      }),
    );
  });

  it('uses the whole range, so that a thousand agents do not reconnect at once', () => {
    const delays = Array.from({ length: 1000 }, (_, index) => backoffDelayMs(6, range, () => index / 1000));
    expect(Math.min(...delays)).toBe(0);
    expect(Math.max(...delays)).toBeGreaterThan(29_000);
    expect(new Set(delays).size).toBeGreaterThan(900);
  });

  it('is short after a drain and long after a refusal', () => {
    expect(delayAfterClose('immediately', 0, range, () => 0.5)).toBe(500);
    expect(delayAfterClose('slowly', 0, range, () => 0)).toBe(30_000);
    expect(delayAfterClose('after-token-change', 0, range, () => 0.999)).toBeGreaterThan(59_000);
  });
});
