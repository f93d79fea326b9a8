import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SecretBox } from './secret-box.ts';

describe('SecretBox', () => {
  const newKey = () => createSecretKey(randomBytes(32));

  it('opens what it sealed, and never seals the same way twice', () => {
    const box = new SecretBox(newKey(), randomBytes);
    const first = box.seal('tsec_secret', 'tid_a');
    expect(first).not.toContain('secret');
    expect(box.seal('tsec_secret', 'tid_a')).not.toBe(first);
    expect(box.open(first, 'tid_a')).toBe('tsec_secret');
  });

  it('rejects another context, another key and changed bytes', () => {
    const box = new SecretBox(newKey(), randomBytes);
    const other = new SecretBox(newKey(), randomBytes);
    const sealed = box.seal('tsec_secret', 'tid_a');
    expect(() => box.open(sealed, 'tid_b')).toThrow('does not decrypt');
    expect(() => other.open(sealed, 'tid_a')).toThrow('does not decrypt');
    expect(() => box.open(`${sealed.slice(0, -6)}AAAA==`, 'tid_a')).toThrow('does not decrypt');
    expect(() => box.open('v1:', 'tid_a')).toThrow('does not decrypt');
  });

  it('opens secrets sealed under a previous key', () => {
    const [old, fresh] = [newKey(), newKey()];
    const sealed = new SecretBox(old, randomBytes).seal('tsec_secret', 'tid_a');
    expect(new SecretBox([fresh, old], randomBytes).open(sealed, 'tid_a')).toBe('tsec_secret');
  });
});
