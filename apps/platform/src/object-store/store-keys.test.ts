import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { loadMasterKeys } from '@svc/keys';
import { SecretBox, type MetadataStore } from '@svc/object-store';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeMasterKey } from '../administration.ts';
import { type PlatformConfig } from '../config.ts';
import { loadPlatformConfig } from '../load-config.ts';
import { dataFolderPaths } from '../data-folder.ts';
import { openDatabases } from '../databases.ts';
import { createKeyRing, masterKeySource, openKeys } from '../keys.ts';
import { openStoreMetadata, storeExists } from './open-store.ts';
import { rotateStoreKeys } from './store-keys.ts';

const DIRECTORY = 'https://acme.test/directory';
const CONTEXT = `acme-account/${DIRECTORY}`;

describe('the keys of a store that an earlier version sealed under the master key itself', () => {
  let folder: TemporaryFolder;
  let config: PlatformConfig;
  beforeEach(async () => {
    folder = await temporaryFolder();
    config = configFor('object-store');
    const paths = dataFolderPaths(folder.path);
    for (const each of [paths.objectsFolder, paths.keysFolder]) await mkdir(each);
    await (await openDatabases(config, paths)).main.close();
  });
  afterEach(() => folder.remove());

  const configFor = (services: string): PlatformConfig =>
    loadPlatformConfig({ environment: { SVC_DATA: folder.path, SVC_SERVICES: services }, flags: [] }).value;
  const inStore = async <Result>(work: (metadata: MetadataStore) => Promise<Result>): Promise<Result> => {
    const store = await openStoreMetadata(config);
    try {
      return await work(store.metadata);
    } finally {
      await store.close();
    }
  };
  const sealAsBefore = async (): Promise<void> => {
    const { current } = await loadMasterKeys(masterKeySource(config, dataFolderPaths(folder.path)));
    const sealedKey = new SecretBox(current, randomBytes).seal('from before', CONTEXT);
    await inStore((metadata) => metadata.saveAcmeAccount({ directoryUrl: DIRECTORY, sealedKey }));
  };
  const opened = (): Promise<string> =>
    inStore(async (metadata) => {
      const keys = await openKeys(config, masterKeySource(config, dataFolderPaths(folder.path)));
      const account = await metadata.findAcmeAccount({ directoryUrl: DIRECTORY });
      return await createKeyRing(config, keys, metadata).open(account?.sealedKey ?? '', CONTEXT);
    });
  const request = { wait: true, signal: new AbortController().signal, onProgress: () => undefined };

  it('open what they sealed after the first rotation with another master key', async () => {
    await sealAsBefore();
    expect(await rotateStoreKeys(config, request)).toEqual({ keyId: 2 });
    await changeMasterKey(config);
    expect(await opened()).toBe('from before');
  });

  it('are rotated while the service is off, too', async () => {
    await sealAsBefore();
    const off = configFor('clusters');
    await rotateStoreKeys(off, request);
    await changeMasterKey(off);
    expect(await opened()).toBe('from before');
  });

  it.each(['object-store', 'clusters'])('keep the master key while it still seals (%s)', async (services) => {
    await sealAsBefore();
    await expect(changeMasterKey(configFor(services))).rejects.toMatchObject({ code: 'MASTER_KEY_IN_USE' });
    expect(await opened()).toBe('from before');
  });

  it('are none where there was never a store, and none is made', async () => {
    expect(await rotateStoreKeys(configFor('clusters'), request)).toBeNull();
    await changeMasterKey(configFor('clusters'));
    expect(storeExists(config)).toBe(false);
  });
});
