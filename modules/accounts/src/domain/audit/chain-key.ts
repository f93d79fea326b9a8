import { createSecretKey, type KeyObject } from 'node:crypto';
import type { KeyWrapper } from '@svc/keys';
import type { AuditStores } from '../stores.ts';

const KEY_BYTES = 32;
const CONTEXT = 'audit-chain-key';

/** Loads the chain's key: created once, stored in the database, wrapped by a key that is kept elsewhere. */
export async function loadChainKey(
  stores: AuditStores,
  wrapper: KeyWrapper,
  randomBytes: (size: number) => Buffer,
): Promise<KeyObject> {
  const stored = await stores.readAudit((chain) => chain.key());
  if (stored !== null) return createSecretKey(await wrapper.unwrap(stored, CONTEXT));
  const made = await wrapper.wrap(randomBytes(KEY_BYTES), CONTEXT);
  await stores.transactAudit((chain) => chain.addKey(made)); // another replica may have been first
  return await loadChainKey(stores, wrapper, randomBytes);
}

/** Rewraps the key under a new master key. */
export async function rewrapChainKey(stores: AuditStores, wrapper: KeyWrapper): Promise<void> {
  const stored = await stores.readAudit((chain) => chain.key());
  if (stored === null) return;
  const rewrapped = await wrapper.wrap(await wrapper.unwrap(stored, CONTEXT), CONTEXT);
  await stores.transactAudit((chain) => chain.replaceKey(rewrapped));
}
