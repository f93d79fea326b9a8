import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Argon2PasswordHasher, deriveArgon2id, type DeriveKey } from './password-hasher.ts';
import { formatPhc, parsePhc } from './phc-string.ts';

const cheap = { memoryKib: 8, passes: 1, parallelism: 1 };

describe('the password hasher', () => {
  it('accepts the password and no other', async () => {
    const hasher = new Argon2PasswordHasher(cheap, randomBytes);
    const stored = await hasher.hash('Grüße an alle', null);
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=8,t=1,p=1\$[^$]+\$[^$]+$/);
    expect(await hasher.check('Grüße an alle', stored, null)).toEqual({ matches: true, outdated: false });
    expect(await hasher.check('Gru\u0308ße an alle', stored, null)).toEqual({ matches: true, outdated: false });
    expect((await hasher.check('Grüße an alle ', stored, null)).matches).toBe(false);
    expect(await hasher.hash('Grüße an alle', null)).not.toBe(stored);
  });

  it('verifies with the stored parameters and reports outdated ones', async () => {
    const stored = await new Argon2PasswordHasher(cheap, randomBytes).hash('a password', null);
    const today = new Argon2PasswordHasher({ ...cheap, passes: 2 }, randomBytes);
    expect(await today.check('a password', stored, null)).toEqual({ matches: true, outdated: true });
  });

  it('does the same work for an unreadable hash as for a wrong password, and never matches', async () => {
    const work: string[] = [];
    const recording: DeriveKey = (password, salt, cost, sizeBytes) => {
      work.push(JSON.stringify([cost, salt.length, sizeBytes]));
      return deriveArgon2id(password, salt, cost, sizeBytes);
    };
    const hasher = new Argon2PasswordHasher(cheap, randomBytes, recording);
    const stored = await hasher.hash('the password', null);
    for (const unreadable of [null, undefined, '', 'plain', '$argon2i$v=19$m=8,t=1,p=1$AAAA$AAAA']) {
      expect(await hasher.check('wrong', unreadable, null)).toEqual({ matches: false, outdated: false });
    }
    expect((await hasher.check('wrong', stored, null)).matches).toBe(false);
    expect(work.length).toBe(7);
    expect(new Set(work).size).toBe(1);
  });

  it('matches the reference implementation', async () => {
    // RFC 9106 has no vector without a secret; this one is from the reference tool: argon2 somesalt -id -t 2 -k 65536
    // -p 1
    const stored = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
    expect((await new Argon2PasswordHasher(cheap, randomBytes).check('password', stored, null)).matches).toBe(true);
  });
});

it('PHC strings round-trip', () => {
  const stored = { parameters: cheap, salt: randomBytes(16), hash: randomBytes(32) };
  expect(parsePhc(formatPhc(stored))).toEqual(stored);
});
