import { describe, expect, it } from 'vitest';
import type { LogLine } from './log-lines.ts';
import { ReadBefore, decodePlace, encodePlace } from './log-place.ts';
import { SeenLines } from './seen-lines.ts';

/** Two outputs, out of order, with two identical lines. */
const LINES: readonly LogLine[] = [
  ['10:00:00.000000001', 'a'],
  ['10:00:00.000000005', 'b'],
  ['10:00:00.000000003', 'c'],
  ['10:00:00.000000003', 'c'],
  ['10:00:00.000000004', 'd'],
  ['10:00:01.000000000', 'e'],
].map(([time, text]) => ({ time: `2026-01-01T${time}Z`, text: `${text}\n`, begins: true }));

function placeAfter(read: number): string {
  const seen = new SeenLines();
  for (const line of LINES.slice(0, read)) seen.isRepeated(line);
  if (seen.place === null) throw new Error('nothing was read');
  return encodePlace(seen.place);
}

function restAfter(place: string, lines: readonly LogLine[]): string {
  const decoded = decodePlace(place);
  if (decoded === null) throw new Error(`${place} is none`);
  const before = new ReadBefore(decoded);
  return lines
    .filter((line) => !before.includes(line))
    .map(({ text }) => text.trim())
    .join('');
}

describe('a log position', () => {
  it.each([
    [1, 'bccde'],
    [2, 'ccde'],
    [3, 'cde'],
    [4, 'de'],
    [5, 'e'],
    [6, ''],
  ])('after %i lines leaves %j', (read, rest) => {
    expect(restAfter(placeAfter(read), LINES)).toBe(rest);
  });

  it('falls back to the time if its line is gone', () => {
    expect(restAfter(placeAfter(5), LINES.slice(5))).toBe('e');
    expect(restAfter(placeAfter(3), LINES.slice(5))).toBe('e');
  });

  it('includes the continuations of a long line', () => {
    const [first, second] = LINES;
    if (first === undefined || second === undefined) throw new Error('there are lines');
    const part = { time: '', text: 'part\n', begins: false };
    expect(restAfter(placeAfter(1), [first, part, second, part])).toBe('bpart');
  });

  it.each(['', 'a b c d', '2026-01-01T10:00:00Z', `${'x'.repeat(300)} 1 2 3`])('cannot be decoded from %j', (text) => {
    expect(decodePlace(text)).toBeNull();
  });
});
