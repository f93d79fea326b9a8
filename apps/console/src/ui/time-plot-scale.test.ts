import { describe, expect, it } from 'vitest';
import { centreOf, isDrawn, nearestTo, ticksOver, withoutGaps } from './time-plot-scale.ts';

const MiB = 1024 * 1024;
const span = { fromMs: 0, toMs: 40, stepMs: 10 };
const at = (atMs: number) => ({ atMs, value: atMs });

describe('the scale of a time plot', () => {
  it.each([
    [0, [0, 1]],
    [1, [0, 1]],
    [3, [0, 1, 2, 3]],
    [10, [0, 5, 10]],
    [120, [0, 50, 100, 150]],
  ])('has whole steps up to a count of %i', (highest, ticks) => {
    expect(ticksOver(highest, 'count')).toEqual(ticks);
  });

  it('has steps in binary units for bytes', () => {
    expect(ticksOver(900, 'bytes')).toEqual([0, 500, 1_000]);
    expect(ticksOver(1.4 * MiB, 'bytes').map((bytes) => bytes / MiB)).toEqual([0, 0.5, 1, 1.5]);
    expect(ticksOver(300 * MiB, 'bytes').map((bytes) => bytes / MiB)).toEqual([0, 100, 200, 300]);
  });

  it('centers values in their periods', () => {
    expect([0, 10, 30].map((atMs) => centreOf(atMs, span))).toEqual([0.125, 0.375, 0.875]);
  });

  it('finds the period under the pointer', () => {
    const values = [at(0), at(10), at(30)];
    expect(nearestTo(0, values, span)).toEqual(at(0));
    expect(nearestTo(0.6, values, span)).toEqual(at(10));
    expect(nearestTo(0.7, values, span)).toEqual(at(30));
    expect(nearestTo(0.5, [], span)).toBeUndefined();
  });

  it('breaks the line where periods are missing', () => {
    expect(withoutGaps([at(0), at(10), at(30)], 10)).toEqual([[at(0), at(10)], [at(30)]]);
    expect(withoutGaps([], 10)).toEqual([]);
  });

  it('draws a limit only if the values remain visible', () => {
    expect(isDrawn(100, 25)).toBe(true);
    expect(isDrawn(101, 25)).toBe(false);
    expect(isDrawn(null, 25)).toBe(false);
  });
});
