import { describe, expect, it } from 'vitest';
import { formatBytes, parseBytes, writeBytes } from './format-bytes.ts';

describe('sizes', () => {
  it.each([
    ['1024', 1024],
    ['10 GiB', 10 * 1024 ** 3],
    ['1.5m', 1.5 * 1024 ** 2],
    ['2 KB', 2048],
    ['7b', 7],
  ])('parses %s', (text, sizeBytes) => expect(parseBytes(text)).toBe(sizeBytes));

  it.each(['', 'much', '-1', '1 GX', '1e3', '99999999999999999'])('rejects %j', (text) =>
    expect(parseBytes(text)).toBeNull(),
  );

  it('parses its own output', () => expect(parseBytes(formatBytes(5 * 1024 ** 3))).toBe(5 * 1024 ** 3));

  it.each([0, 1, 1023, 1024, 1_500_000, 1024 ** 2 + 1, 3 * 1024 ** 4])('formats %i exactly', (sizeBytes) =>
    expect(parseBytes(writeBytes(sizeBytes))).toBe(sizeBytes),
  );
});
