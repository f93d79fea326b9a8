import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { describeHostKey, fingerprintOf, generateHostKey, isUsableKey, verifyKey } from './ssh-keys.ts';

const BLOB = Buffer.from('session, user name and key');

/** The wire format of a public key. */
function wire(...fields: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(
    fields.flatMap((field) => {
      const bytes = Buffer.from(field);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

function ed25519() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const data = wire('ssh-ed25519', Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url'));
  return { data, sign: (blob: Buffer) => sign(null, blob, privateKey) };
}

function rsa() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { e = '', n = '' } = publicKey.export({ format: 'jwk' });
  const modulus = Buffer.concat([Buffer.alloc(1), Buffer.from(n, 'base64url')]);
  const data = wire('ssh-rsa', Buffer.from(e, 'base64url'), modulus);
  return { data, sign: (hash: string) => sign(hash, BLOB, privateKey) };
}

describe('the proof of an SSH key', () => {
  it('is a signature of this connection by this key', () => {
    const mine = ed25519();
    const other = ed25519();
    const shown = (data: Buffer, signature: Buffer) => ({ key: { algo: 'ssh-ed25519', data }, signature, blob: BLOB });
    expect(verifyKey(shown(mine.data, mine.sign(BLOB)))).toBe(fingerprintOf(mine.data));
    expect(verifyKey(shown(mine.data, other.sign(BLOB)))).toBeNull();
    expect(verifyKey(shown(mine.data, mine.sign(Buffer.from('another session'))))).toBeNull();
    expect(verifyKey(shown(mine.data, Buffer.alloc(0)))).toBeNull();
    expect(verifyKey({ key: { algo: 'ssh-ed25519', data: mine.data }, blob: BLOB })).toBeNull();
  });

  it('needs SHA-2 for RSA', () => {
    const { data, sign: signWith } = rsa();
    const key = { algo: 'ssh-rsa', data };
    for (const hashAlgo of ['sha256', 'sha512']) {
      expect(verifyKey({ key, hashAlgo, signature: signWith(hashAlgo), blob: BLOB })).toBe(fingerprintOf(data));
      expect(verifyKey({ key, hashAlgo, signature: signWith('sha1'), blob: BLOB })).toBeNull();
      expect(isUsableKey({ key, hashAlgo })).toBe(true);
    }
    expect(isUsableKey({ key })).toBe(false);
  });

  it('is refused for a key that the library fails to parse', () => {
    const algo = 'ecdsa-sha2-nistp256';
    const shown = { signature: Buffer.alloc(8), blob: BLOB };
    for (const point of [Buffer.alloc(0), Buffer.alloc(65, 4), Buffer.alloc(1000)])
      expect(verifyKey({ ...shown, key: { algo, data: wire(algo, 'nistp256', point) } })).toBeNull();
  });

  it('is of the type that the key itself names', () => {
    const { data, sign: signWith } = ed25519();
    const shown = { signature: signWith(BLOB), blob: BLOB };
    for (const algo of ['ssh-rsa', 'ssh-ed2551', 'ssh-ed25519-cert-v01@openssh.com', '']) {
      expect(verifyKey({ ...shown, key: { algo, data } }), algo).toBeNull();
    }
    for (const bad of [Buffer.alloc(0), Buffer.alloc(3), data.subarray(0, 20), wire('ssh-ed25519', Buffer.alloc(31))]) {
      expect(verifyKey({ ...shown, key: { algo: 'ssh-ed25519', data: bad } })).toBeNull();
    }
  });

  it.each([
    [{ algo: 'ssh-dss', data: Buffer.alloc(40) }],
    [{ algo: 'sk-ssh-ed25519@openssh.com', data: Buffer.alloc(40) }],
    [{ algo: 'ssh-ed25519', data: Buffer.alloc(1_201) }],
    [undefined],
  ])('is not asked for with a key that cannot be registered', (key) => {
    expect(isUsableKey({ ...(key === undefined ? {} : { key }), hashAlgo: 'sha256' })).toBe(false);
  });
});

it('generates a host key that can be read, also if the library first writes one that cannot', () => {
  const good = generateHostKey();
  const broken = good.replace(/\n(.{20})/, '\nAAAAAAAAAAAAAAAAAAAA');
  expect(() => describeHostKey(broken)).toThrow('not a private key');
  const drafts = [broken, broken, good];
  expect(generateHostKey(() => drafts.shift() ?? '')).toBe(good);
  expect(() => generateHostKey(() => broken)).toThrow('no SSH host key');
  expect(describeHostKey(good).fingerprint).toMatch(/^SHA256:/);
});
