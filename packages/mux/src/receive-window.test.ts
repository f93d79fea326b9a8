import { describe, expect, it } from 'vitest';
import { ProtocolViolation } from './errors.ts';
import { GrowthBudget, ReceiveWindow } from './receive-window.ts';

const MIB = 1024 * 1024;

describe('ReceiveWindow', () => {
  it('returns credit in halves of the window', () => {
    const window = new ReceiveWindow(new GrowthBudget(0), 16 * MIB, 0);
    window.spend(MIB);
    expect(window.taken(MIB / 2 - 1, 10, null)).toBe(0);
    expect(window.taken(1, 10, null)).toBe(MIB / 2);
    expect(window.taken(MIB / 2, 10, null)).toBe(MIB / 2);
  });

  it('rejects even one byte more than the credit', () => {
    const window = new ReceiveWindow(new GrowthBudget(0), 16 * MIB, 0);
    window.spend(MIB);
    expect(() => window.spend(1)).toThrow(ProtocolViolation);
  });

  it('doubles while half of it is used within two round trips, up to its maximum', () => {
    const window = new ReceiveWindow(new GrowthBudget(64 * MIB), 4 * MIB, 0);
    const sizes: number[] = [];
    let nowMs = 0;
    for (let round = 0; round < 4; round += 1) {
      const half = window.sizeBytes / 2;
      window.spend(half);
      nowMs += 90;
      window.taken(half, nowMs, 50);
      sizes.push(window.sizeBytes / MIB);
    }
    expect(sizes).toEqual([2, 4, 4, 4]);
  });

  it('does not grow if the reader or the link is slow, or the round trip unknown', () => {
    const window = new ReceiveWindow(new GrowthBudget(64 * MIB), 16 * MIB, 0);
    window.spend(MIB);
    window.taken(MIB / 2, 101, 50);
    window.taken(MIB / 2, 102, null);
    expect(window.sizeBytes).toBe(MIB);
  });

  it('does not grow for a burst from kernel memory, which says nothing about the link', () => {
    const window = new ReceiveWindow(new GrowthBudget(64 * MIB), 16 * MIB, 0);
    window.spend(MIB / 2);
    window.taken(MIB / 2, 1, 5);
    window.spend(MIB / 2);
    window.taken(MIB / 2, 101, 5); // half a window in 50 ms, which is ten round trips
    expect(window.sizeBytes).toBe(MIB);
  });

  it('does not grow while bytes always wait for the reader', () => {
    const window = new ReceiveWindow(new GrowthBudget(64 * MIB), 16 * MIB, 0);
    window.spend(MIB);
    for (let round = 1; round < 4; round += 1) window.spend(window.taken(MIB / 2, round * 60, 50));
    expect(window.sizeBytes).toBe(MIB);
    window.taken(MIB / 2, 240, 50); // one half is left in the queue
    window.taken(MIB / 2, 300, 50); // now nothing is left
    expect(window.sizeBytes).toBe(2 * MIB);
  });

  it('shares its growth with the session’s other windows, and returns it', () => {
    const budget = new GrowthBudget(MIB);
    const [first, second] = [new ReceiveWindow(budget, 16 * MIB, 0), new ReceiveWindow(budget, 16 * MIB, 0)];
    for (const window of [first, second]) {
      window.spend(MIB / 2);
      window.taken(MIB / 2, 60, 50);
    }
    expect([first.sizeBytes, second.sizeBytes]).toEqual([2 * MIB, MIB]);
    first.release();
    second.spend(MIB / 2);
    second.taken(MIB / 2, 120, 50);
    expect(second.sizeBytes).toBe(2 * MIB);
  });
});
