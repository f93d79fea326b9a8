import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createLogger } from '@svc/telemetry';
import { KeyRotation, readKeyUsage, rewrapInstallationKey, rewrapKeys, type KeyUsage } from '@svc/object-store';
import type { MasterKeyChange } from '@svc/keys';
import type { PlatformConfig } from '../config.ts';
import { createKeyRing, masterKeySource, openKeys } from '../keys.ts';
import { openObjectStore, type OpenedStore } from './open-store.ts';

const POLL_MS = 500;

export interface RotateRequest {
  /** Also returns when older keys are still in use: the platform goes on with it. */
  wait: boolean;
  signal: AbortSignal;
  /** How many keys are left beside the new one. */
  onProgress: (olderKeys: number) => void;
}

/**
 * Makes a new key, which seals from now on, and sees that everything is sealed again under it. A running platform does
 * that; where none runs on this folder, it is done here. It can be stopped at any moment: the next start goes on.
 */
export async function rotateStoreKeys(config: PlatformConfig, request: RotateRequest): Promise<{ keyId: number }> {
  return await withStore(config, async (store) => {
    const keys = await openKeys(config, masterKeySource(config, store.folder));
    const ring = createKeyRing(config, keys, store.metadata);
    const keyId = await ring.addKey();
    if (!request.wait) return { keyId };
    const rotation = new KeyRotation({
      metadata: store.metadata,
      secrets: ring,
      holder: `rotate-${randomUUID()}`,
      log: createLogger({ level: 'warn', name: 'svc' }),
      now: Date.now,
    });
    for (;;) {
      const older = (await ring.refresh()).filter(({ id }) => id < keyId).length;
      request.onProgress(older);
      if (older === 0 || request.signal.aborted) return { keyId };
      if (!store.running && (await rotation.round(request.signal)).ran) continue;
      await delay(POLL_MS, undefined, { signal: request.signal }).catch(() => undefined);
    }
  });
}

/** Which keys there are and what each of them seals. */
export function storeKeyUsage(config: PlatformConfig): Promise<readonly KeyUsage[]> {
  return withStore(config, ({ metadata }) => readKeyUsage(metadata));
}

/** Wraps what the store keeps under the keys of a change that has begun. Again until nothing is left that it did not wrap. */
export async function rewrapStoreKeys(config: PlatformConfig, change: MasterKeyChange): Promise<number> {
  return await withStore(config, async ({ metadata, folder }) => {
    const keys = await openKeys(config, masterKeySource(config, folder), async () => change.keys);
    await rewrapInstallationKey(metadata, keys.local);
    const count = await rewrapKeys(metadata, keys.ring);
    const wanted = await keys.ring.id();
    while ((await metadata.storeKeys({})).some(({ wrapper }) => wrapper !== wanted)) {
      await rewrapKeys(metadata, keys.ring);
    }
    return count;
  });
}

async function withStore<Result>(
  config: PlatformConfig,
  work: (store: OpenedStore) => Promise<Result>,
): Promise<Result> {
  const store = await openObjectStore(config);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
