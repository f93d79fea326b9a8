import { describe, expect, it } from 'vitest';
import { renderProgress } from './progress.ts';

describe('the progress line', () => {
  it('shows progress and speed', () => {
    const state = { movedBytes: 512, totalBytes: 2048, done: 1, total: 4, seconds: 2 };
    expect(renderProgress(state)).toBe('[######------------------]  25%  512 B of 2.0 KiB  1 of 4  256 B/s');
    expect(renderProgress({ ...state, seconds: 0.1 })).not.toContain('/s');
    expect(renderProgress({ ...state, movedBytes: 4096 })).toContain('100%');
  });

  it('has no bar when the total is unknown', () => {
    expect(renderProgress({ movedBytes: 1024, totalBytes: 0, done: 0, total: 0, seconds: 1 })).toBe(
      '1.0 KiB  1.0 KiB/s',
    );
  });
});
