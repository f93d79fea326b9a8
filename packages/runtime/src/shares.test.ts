import { describe, expect, it } from 'vitest';
import { Shares } from './shares.ts';

const holders = { key: 'workspace', group: 'owner' };
/** `ann/1` and `ann/2` belong to `ann`. */
const groupOf = (key: string): string => key.split('/', 1)[0] ?? key;

/** Takes until a refusal. Returns how much that was. */
function takeAll(shares: Shares, key: string): number {
  let taken = 0;
  while (shares.take(key).refusal === null) taken += 1;
  return taken;
}

describe('shares', () => {
  it('leave room for others, however much one key or group takes', () => {
    const shares = new Shares({ capacity: 60, groupOf, holders });
    expect(takeAll(shares, 'ann/1')).toBe(20);
    expect(takeAll(shares, 'ann/2')).toBe(10); // half of everything together
    expect(takeAll(shares, 'ann/3')).toBe(0);
    expect(takeAll(shares, 'bob/1')).toBe(10);
    expect(takeAll(shares, 'cid/1')).toBeGreaterThan(5);
  });

  it('are about equal if all groups take what they can in turns', () => {
    const shares = new Shares({ capacity: 100, holders });
    const held = [0, 0, 0, 0];
    for (let round = 0; round < 100; round += 1) {
      for (const key of held.keys()) if (shares.take(`group ${key}`).refusal === null) held[key] = (held[key] ?? 0) + 1;
    }
    expect(Math.max(...held) - Math.min(...held)).toBeLessThanOrEqual(1);
    expect(Math.min(...held)).toBeGreaterThan(15);
    expect(shares.take('the next').refusal).toBeNull();
  });

  it('serve hundreds of groups with one each, up to the capacity', () => {
    const shares = new Shares({ capacity: 300, holders });
    for (let each = 0; each < 300; each += 1) expect(shares.take(`group ${each}`).refusal).toBeNull();
    expect(shares.take('one more').refusal).toEqual({ holder: 'replica', held: 300, limit: 300 });
  });

  it('say who holds too much', () => {
    const shares = new Shares({ capacity: 12, groupOf, holders });
    takeAll(shares, 'ann/1');
    expect(shares.take('ann/1').refusal).toEqual({ holder: 'workspace', held: 4, limit: 12 });
    takeAll(shares, 'ann/2');
    expect(shares.take('ann/3').refusal).toEqual({ holder: 'owner', held: 6, limit: 12 });
  });

  it('have a fixed limit per key as well', () => {
    const shares = new Shares({ capacity: 100, capacityPerKey: 3, holders });
    expect(takeAll(shares, 'ann')).toBe(3);
  });

  it('return what is released, once', () => {
    const shares = new Shares({ capacity: 3, holders });
    const first = shares.take('ann');
    expect(shares.take('ann').refusal).not.toBeNull();
    first.release?.();
    first.release?.();
    expect(shares.held).toBe(0);
    expect(shares.take('ann').refusal).toBeNull();
  });

  it('count a release in the group of its taking', () => {
    let group = 'before';
    const shares = new Shares({ capacity: 4, groupOf: () => group, holders });
    const taken = shares.take('ann');
    group = 'after';
    taken.release?.();
    group = 'before';
    expect(takeAll(shares, 'ann')).toBe(2);
  });

  it('count what is taken outside of them, down to the last one', () => {
    const shares = new Shares({ capacity: 12, holders });
    const unshared = Array.from({ length: 9 }, () => shares.takeUnshared());
    expect(takeAll(shares, 'ann')).toBe(1);
    expect([shares.takeUnshared().refusal, shares.takeUnshared().refusal]).toEqual([null, null]);
    expect(shares.takeUnshared().refusal).toEqual({ holder: 'replica', held: 12, limit: 12 });
    for (const { release } of unshared) release?.();
    unshared[0]?.release?.();
    expect(shares.held).toBe(3);
  });
});
