import { describe, expect, it } from 'vitest';
import { fakeClock } from './fake-clock.ts';

describe('fakeClock', () => {
  it('stands still until it is moved', async () => {
    const clock = fakeClock('2026-01-01T00:00:00.000Z');
    expect(clock.now().toISOString()).toBe('2026-01-01T00:00:00.000Z');
    await clock.advance(1_500);
    expect(clock.nowMs()).toBe(Date.parse('2026-01-01T00:00:01.500Z'));
  });

  it('runs what falls due in the order of the times, also what is set on the way', async () => {
    const clock = fakeClock();
    const seen: string[] = [];
    clock.setTimer(() => seen.push('late'), 200);
    clock.setTimer(() => {
      seen.push('early');
      clock.setTimer(() => seen.push('between'), 50);
    }, 100);
    await clock.advance(200);
    expect(seen).toEqual(['early', 'between', 'late']);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('forgets a timer that is cancelled', async () => {
    const clock = fakeClock();
    let ran = false;
    clock.setTimer(() => (ran = true), 100)();
    await clock.advance(1_000);
    expect(ran).toBe(false);
  });
});
