import { createSecretKey, type KeyObject } from 'node:crypto';
import type { KeyWrapper, WrappedKey } from '@svc/keys';
import type { StorePropertyCommands, StorePropertyQueries } from '../domain/ports/store-properties.ts';

const PROPERTY = 'installation-key';
const CONTEXT = 'installation-key';

type Properties = StorePropertyCommands & StorePropertyQueries;

/**
 * Loads the key behind names that must never change, such as the CNAME targets of custom domains. It started as the
 * master key and is wrapped by it, so that the master key can change. `wrapper` is local: startup calls no key service.
 */
export async function loadInstallationKey(
  metadata: Properties,
  wrapper: KeyWrapper,
  masterKey: KeyObject,
): Promise<KeyObject> {
  const stored = await read(metadata);
  if (stored !== null) return createSecretKey(await wrapper.unwrap(stored, CONTEXT));
  await write(metadata, await wrapper.wrap(masterKey.export(), CONTEXT));
  return masterKey;
}

/** Wraps the installation key under another master key. */
export async function rewrapInstallationKey(metadata: Properties, wrapper: KeyWrapper): Promise<void> {
  const stored = await read(metadata);
  if (stored === null) return;
  await write(metadata, await wrapper.wrap(await wrapper.unwrap(stored, CONTEXT), CONTEXT));
}

async function read(metadata: Properties): Promise<WrappedKey | null> {
  const stored = await metadata.storeProperty({ name: PROPERTY });
  return stored === null ? null : (JSON.parse(stored) as WrappedKey); // written by `write` below
}

async function write(metadata: Properties, { wrapper, text }: WrappedKey): Promise<void> {
  await metadata.setStoreProperty({ name: PROPERTY, value: JSON.stringify({ wrapper, text }) });
}
