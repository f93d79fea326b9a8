import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { KeyWrapper } from '../key-wrapper.ts';

/** Contract suite for key wrappers; runs on each adapter. */
export function describeKeyWrapper(name: string, create: () => KeyWrapper): void {
  describe(`key wrapper ${name}`, () => {
    const refused = { code: 'KEY_NOT_OPENED', status: 500 };

    it('unwraps its own keys, and reveals nothing of them', async () => {
      const wrapper = create();
      const key = randomBytes(32);
      const wrapped = await wrapper.wrap(key, 'a key');
      expect(wrapped.wrapper).toBe(await wrapper.id());
      expect(wrapper.opens(wrapped.wrapper)).toBe(true);
      expect(JSON.stringify(wrapped)).not.toContain(key.toString('base64'));
      expect((await wrapper.unwrap(wrapped, 'a key')).equals(key)).toBe(true);
    });

    it('never wraps the same way twice', async () => {
      const wrapper = create();
      const key = randomBytes(32);
      expect((await wrapper.wrap(key, 'a key')).text).not.toBe((await wrapper.wrap(key, 'a key')).text);
    });

    it('opens a key in its own context only', async () => {
      const wrapper = create();
      const wrapped = await wrapper.wrap(randomBytes(32), 'a key');
      await expect(wrapper.unwrap(wrapped, 'another key')).rejects.toMatchObject(refused);
    });

    it('rejects modified keys, and keys it did not wrap', async () => {
      const wrapper = create();
      const wrapped = await wrapper.wrap(randomBytes(32), 'a key');
      const middle = Math.floor(wrapped.text.length / 2);
      const flipped = wrapped.text[middle] === 'A' ? 'B' : 'A';
      const text = wrapped.text.slice(0, middle) + flipped + wrapped.text.slice(middle + 1);
      await expect(wrapper.unwrap({ ...wrapped, text }, 'a key')).rejects.toMatchObject(refused);
      await expect(wrapper.unwrap({ ...wrapped, text: '' }, 'a key')).rejects.toMatchObject(refused);
      expect(wrapper.opens('elsewhere:1')).toBe(false);
    });
  });
}
