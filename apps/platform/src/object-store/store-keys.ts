import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '@svc/runtime';
import { createLogger } from '@svc/telemetry';
import { KeyRotation, readKeyUsage, rewrapInstallationKey, rewrapKeys, type KeyUsage } from '@svc/object-store';
import type { MasterKeyChange } from '@svc/keys';
import type { PlatformConfig } from '../config.ts';
import { createKeyRing, masterKeySource, openKeys } from '../keys.ts';
import { startErrors } from '../errors.ts';
import { openStoreMetadata, storeExists, type OpenedMetadata } from './open-store.ts';

const POLL_MS = 500;

export interface RotateRequest {
  /** False: return even if older keys are still in use; the platform continues. */
  wait: boolean;
  signal: AbortSignal;
  /** Receives the number of keys left beside the new one. */
  onProgress: (olderKeys: number) => void;
}

/**
 * Creates a new key, which seals from now on, and reseals everything under it. A running platform does that itself;
 * without one, it is done here. It can be interrupted at any time: the next start continues. Returns null if there is
 * no store; the keys of a disabled store are rotated too.
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
      clock: systemClock,
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

/** The existing keys and what each of them seals. */
export function storeKeyUsage(config: PlatformConfig): Promise<readonly KeyUsage[]> {
  return withStore(config, ({ metadata }) => readKeyUsage(metadata));
}

/**
 * Rewraps the store's keys during a master key change; repeats until nothing is left to rewrap. Throws
 * `MASTER_KEY_IN_USE` while the old key still seals data directly, which rewrapping does not change.
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
