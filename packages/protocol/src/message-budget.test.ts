import { describe, expect, it } from 'vitest';
import { MessageBudget } from './message-budget.ts';

const RATE = { perMinute: 60, burst: 10, controlShare: 0.3 };

describe('MessageBudget', () => {
  it('reserves a share of the burst for control messages', () => {
    const budget = new MessageBudget(RATE, () => 0);
    const taken = (control: boolean): number => {
      let count = 0;
      while (budget.take(control) === 0) count += 1;
      return count;
    };
    expect(taken(false)).toBe(7);
    expect(taken(true)).toBe(3);
  });

  it('returns the wait time and never exceeds the rate per minute', () => {
    let nowMs = 0;
    const budget = new MessageBudget(RATE, () => nowMs);
    let sent = 0;
    while (nowMs < 60_000) {
      const waitMs = budget.take(true);
      if (waitMs === 0) sent += 1;
      else nowMs += waitMs;
    }
    expect(sent).toBeGreaterThanOrEqual(69);
    expect(sent).toBeLessThanOrEqual(70);
  });

  it('loses no budget when the clock is set back', () => {
    let nowMs = 100_000;
    const budget = new MessageBudget(RATE, () => nowMs);
    nowMs = 0;
    expect(budget.take(true)).toBe(0);
  });
});
