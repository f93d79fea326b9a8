import { expect, it } from 'vitest';
import { describeHostKey, generateHostKey } from './host-key.ts';

it('generates a key that can be read, also if the library first writes one that cannot', () => {
  const good = generateHostKey();
  const broken = good.replace(/\n(.{20})/, '\nAAAAAAAAAAAAAAAAAAAA');
  expect(() => describeHostKey(broken)).toThrow('not a private key');
  const drafts = [broken, broken, good];
  expect(generateHostKey(() => drafts.shift() ?? '')).toBe(good);
  expect(() => generateHostKey(() => broken)).toThrow('no SSH host key');
  expect(describeHostKey(good).fingerprint).toMatch(/^SHA256:/);
});
