import { describe, expect, it } from 'vitest';
import { linePath } from './plot-path.ts';

const box = { width: 100, height: 26, capacity: 5 };

describe('the path of a line plot', () => {
  it('is empty for fewer than two values', () => {
    expect(linePath([], box)).toEqual({ line: '', area: '' });
    expect(linePath([3], box)).toEqual({ line: '', area: '' });
  });

  it('ends at the right edge and begins as far left as there are values', () => {
    expect(linePath([0, 10], box).line).toBe('M75 23L100 3');
  });

  it('shows only the newest values when there are more than fit', () => {
    expect(linePath([9, 9, 9, 0, 0, 0, 0, 1], box).line).toBe('M0 23L25 23L50 23L75 23L100 3');
  });

  it('lies on the ground when all values are zero', () => {
    expect(linePath([0, 0], box).line).toBe('M75 23L100 23');
  });
});
