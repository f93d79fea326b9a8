import type { KeyWrapper } from '@svc/keys';
import type { MetadataStore } from '../ports/metadata-store.ts';
import { contextOf } from '../secrets/key-ring.ts';

/**
 * Wraps the keys of the ring anew: under another master key, by another key service, or by the newest version of its
 * key. Nothing that they seal changes. Answers how many were wrapped; one that fails leaves the rest as it is.
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
