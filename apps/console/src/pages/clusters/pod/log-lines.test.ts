import { describe, expect, it } from 'vitest';
import { LogLines } from './log-lines.ts';

describe('log lines', () => {
  it('are assembled from pieces that end anywhere', () => {
    const lines = new LogLines(10);
    lines.push('one\ntw');
    lines.push('o\r\nthree');
    expect(lines.text).toBe('one\ntwo\nthree');
  });

  it('include only the newest, and count the dropped ones', () => {
    const lines = new LogLines(2);
    lines.push('1\n2\n3\n');
    lines.push('4\n');
    lines.lost(5, 7);
    expect([lines.text, lines.droppedLines, lines.droppedBytes]).toEqual(['3\n4', 7, 7]);
  });

  it('stay bounded without a line break', () => {
    const lines = new LogLines(2);
    for (let index = 0; index < 40; index += 1) lines.push('x'.repeat(1024));
    expect(lines.text).toHaveLength(16 * 1024);
    expect([lines.isEmpty, new LogLines(1).isEmpty]).toEqual([false, true]);
  });
});
