import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { beginMasterKeyChange, loadMasterKeys, parseMasterKey } from './master-keys.ts';

describe('master keys', () => {
  let folder = '';
  let file = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-keys-'));
    file = join(folder, 'master.key');
  });
  afterEach(() => rm(folder, { recursive: true }));
  const load = async () => (await loadMasterKeys({ file, random: randomBytes })).current;

  it('creates the file once, readable by its owner only, and leaves no temporary file', async () => {
    const first = await load();
    expect((await load()).equals(first)).toBe(true);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['master.key']);
    expect(await readFile(file, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
  });

  it('loads the same key in processes that start together', async () => {
    const [first, ...others] = await Promise.all([1, 2, 3, 4].map(load));
    for (const key of others) expect(first?.equals(key)).toBe(true);
  });

  it('rejects a file that others can read, or a key of the wrong length', async () => {
    await load();
    await chmod(file, 0o644);
    await expect(load()).rejects.toMatchObject({ code: 'MASTER_KEY_INVALID' });
    expect(() => parseMasterKey('abcd')).toThrow('32 bytes');
  });

  it('prefers the configured key, with its previous keys', async () => {
    const [configured, previous] = [randomBytes(32).toString('base64'), randomBytes(32).toString('hex')];
    const keys = await loadMasterKeys({ configured, previous: [previous], file, random: randomBytes });
    expect(keys.current.equals(parseMasterKey(configured))).toBe(true);
    expect(keys.others.map((key) => key.equals(parseMasterKey(previous)))).toEqual([true]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('keeps both keys readable throughout a rotation, and resumes an interrupted one', async () => {
    const old = await load();
    const cut = await beginMasterKeyChange({ file, random: randomBytes });
    const during = await loadMasterKeys({ file, random: randomBytes });
    expect(during.current.equals(old)).toBe(true);
    expect(during.others.map((key) => key.equals(cut.keys.current))).toEqual([true]);
    const again = await beginMasterKeyChange({ file, random: randomBytes });
    expect(again.keys.current.equals(cut.keys.current)).toBe(true);
    expect(again.keys.others.map((key) => key.equals(old))).toEqual([true]);
    await again.finish();
    const after = await loadMasterKeys({ file, random: randomBytes });
    expect(after.current.equals(cut.keys.current)).toBe(true);
    expect(after.others).toEqual([]);
    expect(await readdir(folder)).toEqual(['master.key']);
  });

  it('rotates a configured key in the configuration', async () => {
    const source = { configured: randomBytes(32).toString('hex'), file, random: randomBytes };
    await expect(beginMasterKeyChange(source)).rejects.toMatchObject({ code: 'MASTER_KEY_CONFIGURED' });
    const previous = [randomBytes(32).toString('hex')];
    const change = await beginMasterKeyChange({ ...source, previous });
    expect(change.keys.current.equals(parseMasterKey(source.configured))).toBe(true);
  });
});
