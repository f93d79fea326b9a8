import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SigningKey } from './signing-key.ts';

describe('a signing key', () => {
  it('signs as HMAC-SHA256 does, text after text, short and long', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 300 }),
      fc.string({ minLength: 600, maxLength: 3_000 }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), fc.array(text, { maxLength: 4 }), (bytes, texts) => {
        const key = new SigningKey(bytes);
        for (const each of texts) expect(key.sign(each)).toBe(createHmac('sha256', bytes).update(each).digest('hex'));
      }),
    );
  });

  it('refuses a key that would have to be hashed first', () => {
    expect(() => new SigningKey(new Uint8Array(65))).toThrow('block');
  });
});
