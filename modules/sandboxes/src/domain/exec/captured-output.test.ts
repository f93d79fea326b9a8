import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CapturedOutput } from './captured-output.ts';

const between = (bytes: number): string => `<${bytes}>`;

describe('captured output', () => {
  it('is complete up to the limit', () => {
    const output = new CapturedOutput(6);
    for (const part of ['a', 'bcd', 'ef']) output.push(Buffer.from(part));
    expect(output.bytes(between).toString()).toBe('abcdef');
    expect(output.truncated).toBe(false);
  });

  it('is the beginning and the end above the limit, however the bytes arrive', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 }),
        fc.integer({ min: 0, max: 60 }),
        (parts, limit) => {
          const output = new CapturedOutput(limit);
          for (const part of parts) output.push(part);
          const whole = Buffer.concat(parts);
          const fits = whole.length <= limit;
          const [head, tail] = [Math.ceil(limit / 2), Math.floor(limit / 2)];
          const expected = fits
            ? whole
            : Buffer.concat([
                whole.subarray(0, head),
                Buffer.from(between(whole.length - limit)),
                whole.subarray(whole.length - tail),
              ]);
          expect(output.truncated).toBe(!fits);
          expect(output.bytes(between)).toEqual(expected);
          expect(output.totalBytes).toBe(whole.length);
        },
      ),
    );
  });

  it('does not keep bytes that it omits', () => {
    const output = new CapturedOutput(1024);
    const chunk = Buffer.alloc(64 * 1024, 'x');
    for (let index = 0; index < 1000; index += 1) output.push(chunk);
    expect(output.bytes(between).length).toBe(1024 + between(64_000 * 1024 - 1024).length);
  });
});
