import { describe, expect, it } from 'vitest';
import { CapturedOutput } from './captured-output.ts';

function captured(limitBytes: number, ...pieces: string[]): CapturedOutput {
  const output = new CapturedOutput(limitBytes);
  for (const piece of pieces) output.push(new TextEncoder().encode(piece));
  return output;
}

describe('what is kept of an output', () => {
  it('is all of it as long as it fits', () => {
    const output = captured(10, 'abc', 'def', 'ghij');
    expect(output.text()).toBe('abcdefghij');
    expect(output.truncated).toBe(false);
  });

  it('is its beginning and its end when it does not, however it was cut', () => {
    for (const pieces of [['0123456789abcdef'], [...'0123456789abcdef'], ['0123', '456789', 'abcdef']]) {
      const output = captured(8, ...pieces);
      expect(output.text()).toBe('0123\n[8 bytes omitted]\ncdef');
      expect(output.truncated).toBe(true);
      expect(output.totalBytes).toBe(16);
    }
  });

  it('keeps a character whole that two pieces share', () => {
    const output = new CapturedOutput(100);
    for (const byte of new TextEncoder().encode('grün')) output.push(Uint8Array.of(byte));
    expect(output.text()).toBe('grün');
  });
});
