import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '@svc/sql';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlatformConfig } from './config.ts';
import { dataFolderPaths, type DataFolderPaths } from './data-folder.ts';
import { openDatabases, openDatabasesForCommand } from './databases.ts';
import { loadPlatformConfig } from './load-config.ts';
import { OBJECTS_DATABASE, openStoreMetadata } from './object-store/open-store.ts';

const LATER = '9999-later';

describe('a database that a newer version expanded', () => {
  let folder: TemporaryFolder;
  let config: PlatformConfig;
  let paths: DataFolderPaths;
  beforeEach(async () => {
    folder = await temporaryFolder();
    config = loadPlatformConfig({ environment: { SVC_DATA: folder.path }, flags: [] }).value;
    paths = dataFolderPaths(folder.path);
    await mkdir(paths.objectsFolder);
    await (await openDatabases(config, paths)).main.close();
    await (await openStoreMetadata(config)).close();
  });
  afterEach(() => folder.remove());

  const expand = async (file: string): Promise<void> => {
    const database = openDatabase<{ schema_migration: { name: string; checksum: string; applied_at: string } }>({
      file,
    });
    await database.kysely
      .insertInto('schema_migration')
      .values({ name: LATER, checksum: 'of a newer version', applied_at: '2030-01-01T00:00:00.000Z' })
      .execute();
    await database.close();
  };
  const refusal = { code: 'SCHEMA_AHEAD', details: { name: LATER } };

  it('is served, but refused to commands that would miss what only the newer version knows', async () => {
    await expand(paths.databaseFile);
    await (await openDatabases(config, paths)).main.close();
    await expect(openDatabasesForCommand(config, paths)).rejects.toMatchObject(refusal);
  });

  it('is refused to commands of the object store', async () => {
    await expand(join(paths.objectsFolder, OBJECTS_DATABASE));
    await expect(openStoreMetadata(config)).rejects.toMatchObject(refusal);
  });
});
