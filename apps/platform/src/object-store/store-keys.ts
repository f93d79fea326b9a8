import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createLogger } from '@svc/telemetry';
import { KeyRotation, readKeyUsage, rewrapInstallationKey, rewrapKeys, type KeyUsage } from '@svc/object-store';
import type { MasterKeyChange } from '@svc/keys';
import type { PlatformConfig } from '../config.ts';
import { createKeyRing, masterKeySource, openKeys } from '../keys.ts';
import { startErrors } from '../errors.ts';
import { openStoreMetadata, storeExists, type OpenedMetadata } from './open-store.ts';

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
 * that; where none runs the store of this folder, it is done here. It can be stopped at any moment: the next start goes on.
 * Null where there is no store; one that is switched off has its keys rotated like any other.
 */
export async function rotateStoreKeys(
  config: PlatformConfig,
  request: RotateRequest,
): Promise<{ keyId: number } | null> {
  if (!storeExists(config)) return null;
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
    const elsewhere = store.running && config.services.includes('object-store');
    for (;;) {
      const older = (await ring.refresh()).filter(({ id }) => id < keyId).length;
      request.onProgress(older);
      if (older === 0 || request.signal.aborted) return { keyId };
      if (!elsewhere && (await rotation.round(request.signal)).ran) continue;
      await delay(POLL_MS, undefined, { signal: request.signal }).catch(() => undefined);
    }
  });
}

/** Which keys there are and what each of them seals. */
export function storeKeyUsage(config: PlatformConfig): Promise<readonly KeyUsage[]> {
  return withStore(config, ({ metadata }) => readKeyUsage(metadata));
}

/**
 * Wraps what the store keeps under the keys of a change that has begun; `MASTER_KEY_IN_USE` while the old one still seals
 * something itself, which no wrapping replaces. Again until nothing is left that it did not wrap.
 */
export async function rewrapStoreKeys(config: PlatformConfig, change: MasterKeyChange): Promise<number> {
  if (!storeExists(config)) return 0;
  return await withStore(config, async ({ metadata, folder }) => {
    const direct = (await readKeyUsage(metadata)).find(({ id }) => id === 0);
    if (direct !== undefined) {
      const rows = Object.values(direct.rows).reduce((sum, count) => sum + count, 0);
      throw startErrors.MASTER_KEY_IN_USE({ details: { rows } });
    }
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
  work: (store: OpenedMetadata) => Promise<Result>,
): Promise<Result> {
  const store = await openStoreMetadata(config);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
