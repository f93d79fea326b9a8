import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  combineKeyWrappers,
  createLocalKeyWrapper,
  createVaultTransitKeyWrapper,
  loadMasterKeys,
  tokenFromFile,
  type KeyWrapper,
  type MasterKeys,
  type MasterKeySource,
} from '@svc/keys';
import { KeyRing, SecretBox, type MetadataStore } from '@svc/object-store';
import { systemClock } from '@svc/runtime';
import type { PlatformConfig } from './config.ts';
import type { DataFolderPaths } from './data-folder.ts';
import { startErrors } from './errors.ts';

export interface PlatformKeys {
  master: MasterKeys;
  /** Wraps with the master key, for data that must open without a key service. */
  local: KeyWrapper;
  /** Wraps the object store's key ring, as configured. */
  ring: KeyWrapper;
}

export function masterKeySource(config: PlatformConfig, folder: Pick<DataFolderPaths, 'keysFolder'>): MasterKeySource {
  const { master_key: configured, master_key_previous: previous } = config.object_store;
  return {
    configured,
    previous: previous === undefined ? [] : [previous],
    file: join(folder.keysFolder, 'master.key'),
    random: randomBytes,
  };
}

/** `load`: defaults to the source's current keys. */
export async function openKeys(
  config: PlatformConfig,
  source: MasterKeySource,
  load: () => Promise<MasterKeys> = () => loadMasterKeys(source),
): Promise<PlatformKeys> {
  const local = createLocalKeyWrapper({ loadMasterKeys: load, random: randomBytes });
  return { master: await load(), local, ring: ringWrapper(config, local) };
}

export function createKeyRing(
  config: PlatformConfig,
  { master, ring }: PlatformKeys,
  metadata: MetadataStore,
): KeyRing {
  return new KeyRing({
    metadata,
    wrapper: ring,
    legacy: new SecretBox([master.current, ...master.others], randomBytes),
    cacheMs: config.object_store.key_service.cache_seconds * 1_000,
    random: randomBytes,
    clock: systemClock,
  });
}

/** A ring wrapped by a key service still opens what the master key wrapped, and vice versa. */
function ringWrapper(config: PlatformConfig, local: KeyWrapper): KeyWrapper {
  const { kind, vault } = config.object_store.key_service;
  const { address, token, token_path: tokenFile, ca_file: caFile } = vault;
  if (address === undefined) {
    if (kind === 'local') return local;
    throw startErrors.KEY_SERVICE_NOT_CONFIGURED({ details: { name: 'address' } });
  }
  if (token === undefined && tokenFile === undefined) {
    throw startErrors.KEY_SERVICE_NOT_CONFIGURED({ details: { name: 'token_path' } });
  }
  const transit = createVaultTransitKeyWrapper({
    address,
    mount: vault.mount,
    key: vault.key,
    namespace: vault.namespace,
    ca: caFile === undefined ? undefined : readFileSync(caFile, 'utf8'),
    timeoutMs: vault.timeout_seconds * 1_000,
    token: tokenFile === undefined ? async () => token ?? '' : tokenFromFile(tokenFile),
  });
  return kind === 'local' ? combineKeyWrappers(local, [transit]) : combineKeyWrappers(transit, [local]);
}
