import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { describeKeyWrapper } from './testing/key-wrapper-contract.ts';
import { combineKeyWrappers } from './key-wrapper.ts';
import { createLocalKeyWrapper } from './local-key-wrapper.ts';
import type { MasterKeys } from './master-keys.ts';

const master = () => createSecretKey(randomBytes(32));
const over = (keys: MasterKeys) => createLocalKeyWrapper({ loadMasterKeys: async () => keys, random: randomBytes });
const keys: MasterKeys = { current: master(), others: [] };

describeKeyWrapper('local', () => over(keys));

describe('createLocalKeyWrapper', () => {
  it('reloads the master key if another process has rotated it', async () => {
    const [old, fresh] = [master(), master()];
    let current: MasterKeys = { current: old, others: [] };
    const running = createLocalKeyWrapper({ loadMasterKeys: async () => current, random: randomBytes });
    const key = randomBytes(32);
    await running.wrap(key, 'a key');
    const rewrapped = await over({ current: fresh, others: [old] }).wrap(key, 'a key');
    await expect(running.unwrap(rewrapped, 'a key')).rejects.toMatchObject({ code: 'KEY_NOT_OPENED' });
    current = { current: fresh, others: [] };
    expect((await running.unwrap(rewrapped, 'a key')).equals(key)).toBe(true);
  });

  it('opens a key wrapped by another configured wrapper', async () => {
    const old = over({ current: master(), others: [] });
    const key = randomBytes(32);
    const wrapped = await old.wrap(key, 'a key');
    const elsewhere = { ...over(keys), opens: () => false };
    expect((await combineKeyWrappers(elsewhere, [old]).unwrap(wrapped, 'a key')).equals(key)).toBe(true);
    await expect(combineKeyWrappers(elsewhere, []).unwrap(wrapped, 'a key')).rejects.toThrow(
      'no configured key service',
    );
  });
});
