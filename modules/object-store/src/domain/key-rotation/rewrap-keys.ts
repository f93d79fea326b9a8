import type { KeyWrapper } from '@svc/keys';
import type { MetadataStore } from '../ports/metadata-store.ts';
import { contextOf } from '../secrets/key-ring.ts';

/**
 * Rewraps the keys of the ring: under another master key, with another key service, or with the newest version of its
 * key. Sealed data does not change. Returns the number of keys rewrapped; an error leaves the remaining keys as they
 * are.
 */
export async function rewrapKeys(
  metadata: Pick<MetadataStore, 'storeKeys' | 'rewrapStoreKey'>,
  wrapper: KeyWrapper,
): Promise<number> {
  let count = 0;
  for (const { id, wrapper: by, wrapped } of await metadata.storeKeys({})) {
    const key = await wrapper.unwrap({ wrapper: by, text: wrapped }, contextOf(id));
    const fresh = await wrapper.wrap(key, contextOf(id));
    if (await metadata.rewrapStoreKey({ id, from: wrapped, wrapper: fresh.wrapper, wrapped: fresh.text })) count += 1;
  }
  return count;
}
