import { describe, expect, it } from 'vitest';
import { linePath } from './plot-path.ts';

const box = { width: 100, height: 26 };

describe('the path of a line plot', () => {
  it('is empty without values, and flat for a single one', () => {
    expect(linePath([], box)).toEqual({ line: '', area: '' });
    expect(linePath([3], box).line).toBe('M0 3L100 3');
  });

  it('fills the width', () => {
    expect(linePath([0, 10, 5], box).line).toBe('M0 23L50 3L100 13');
  });

  it('lies on the baseline if all values are zero', () => {
    expect(linePath([0, 0], box).line).toBe('M0 23L100 23');
  });
});
