import { describe, expect, it } from 'vitest';
import { CapturedOutput } from './captured-output.ts';

function captured(limitBytes: number, ...pieces: string[]): CapturedOutput {
  const output = new CapturedOutput(limitBytes);
  for (const piece of pieces) output.push(new TextEncoder().encode(piece));
  return output;
}

describe('captured output', () => {
  it('is complete while it fits the limit', () => {
    const output = captured(10, 'abc', 'def', 'ghij');
    expect(output.text()).toBe('abcdefghij');
    expect(output.truncated).toBe(false);
  });

  it('keeps its beginning and end beyond the limit, wherever chunks end', () => {
    for (const pieces of [['0123456789abcdef'], [...'0123456789abcdef'], ['0123', '456789', 'abcdef']]) {
      const output = captured(8, ...pieces);
      expect(output.text()).toBe('0123\n[8 bytes omitted]\ncdef');
      expect(output.truncated).toBe(true);
      expect(output.totalBytes).toBe(16);
    }
  });

  it('keeps a character intact across two chunks', () => {
    const output = new CapturedOutput(100);
    for (const byte of new TextEncoder().encode('grün')) output.push(Uint8Array.of(byte));
    expect(output.text()).toBe('grün');
  });
});
