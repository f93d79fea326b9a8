import { createSecretKey, randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadMasterKey, parseMasterKey } from './master-key.ts';
import { SecretBox } from './secret-box.ts';

describe('secrets at rest', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-secrets-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('opens what it sealed, and never seals the same way twice', () => {
    const box = new SecretBox(createSecretKey(randomBytes(32)), randomBytes);
    const first = box.seal('tsec_secret', 'tid_a');
    expect(first).not.toContain('secret');
    expect(box.seal('tsec_secret', 'tid_a')).not.toBe(first);
    expect(box.open(first, 'tid_a')).toBe('tsec_secret');
  });

  it('refuses another context, another key and changed bytes', () => {
    const box = new SecretBox(createSecretKey(randomBytes(32)), randomBytes);
    const other = new SecretBox(createSecretKey(randomBytes(32)), randomBytes);
    const sealed = box.seal('tsec_secret', 'tid_a');
    expect(() => box.open(sealed, 'tid_b')).toThrow('does not open');
    expect(() => other.open(sealed, 'tid_a')).toThrow('does not open');
    expect(() => box.open(`${sealed.slice(0, -6)}AAAA==`, 'tid_a')).toThrow('does not open');
    expect(() => box.open('v1:', 'tid_a')).toThrow('does not open');
  });

  it('makes the key file once, for its owner alone, and leaves no draft', async () => {
    const file = join(folder, 'master.key');
    const first = await loadMasterKey({ file, random: randomBytes });
    const second = await loadMasterKey({ file, random: randomBytes });
    expect(second.equals(first)).toBe(true);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['master.key']);
    expect(await readFile(file, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
  });

  it('lets two starts at the same time end with the same key', async () => {
    const file = join(folder, 'master.key');
    const keys = await Promise.all([1, 2, 3, 4].map(() => loadMasterKey({ file, random: randomBytes })));
    for (const key of keys) expect(key.equals(keys[0]!)).toBe(true);
  });

  it('refuses a key file that others can read, and a key of a wrong length', async () => {
    const file = join(folder, 'master.key');
    await loadMasterKey({ file, random: randomBytes });
    await chmod(file, 0o644);
    await expect(loadMasterKey({ file, random: randomBytes })).rejects.toMatchObject({ code: 'MasterKeyInvalid' });
    expect(() => parseMasterKey('abcd')).toThrow('32 bytes');
  });

  it('prefers the configured key', async () => {
    const configured = randomBytes(32).toString('base64');
    const key = await loadMasterKey({ configured, file: join(folder, 'unused'), random: randomBytes });
    expect(key.equals(parseMasterKey(configured))).toBe(true);
    expect(await readdir(folder)).toEqual([]);
  });
});
