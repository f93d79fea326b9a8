import { describe, expect, it } from 'vitest';
import { DEFAULT_PART_BYTES, MIN_PART_BYTES, partSizeFor, planParts } from './part-plan.ts';

const TiB = 1024 ** 4;

describe('the parts of an object', () => {
  it('have the default size, never too small, and number at most 10,000', () => {
    expect(partSizeFor(1)).toBe(DEFAULT_PART_BYTES);
    expect(partSizeFor(1, 1)).toBe(MIN_PART_BYTES);
    for (const sizeBytes of [5 * TiB, 5 * TiB - 1, 160_000 * 1024 * 1024 + 1])
      expect(planParts(sizeBytes, partSizeFor(sizeBytes)).length).toBeLessThanOrEqual(10_000);
  });

  it('cover the object consecutively; an empty object has one empty part', () => {
    expect(planParts(0, 10)).toEqual([{ partNumber: 1, start: 0, endExclusive: 0 }]);
    expect(planParts(21, 10).map(({ start, endExclusive }) => [start, endExclusive])).toEqual([
      [0, 10],
      [10, 20],
      [20, 21],
    ]);
    expect(planParts(20, 10)).toHaveLength(2);
  });
});
