import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isAppError } from '@svc/errors';
import { migrations } from '@svc/migrations';
import {
  openBlobStore,
  openPostgresMetadataStore,
  openSqliteMetadataStore,
  type BlobStore,
  type MetadataStore,
} from '@svc/object-store';
import { systemClock } from '@svc/runtime';
import type { Database } from '@svc/sql';
import type { PlatformConfig } from '../config.ts';
import { dataFolderPaths, openDataFolder, type DataFolderPaths } from '../data-folder.ts';
import { assertFileNotNewer, assertFilesNotMoved, openDatabasesForCommand, postgresLocation } from '../databases.ts';
import { startErrors } from '../errors.ts';

/** The metadata of a store, for work that needs no blobs and no engine settings. */
export interface OpenedMetadata {
  folder: DataFolderPaths;
  metadata: MetadataStore;
  /** The platform's database if it is PostgreSQL, which has the store's tables too; null with SQLite. */
  database: Database<unknown> | null;
  /** True if a platform is using the folder: its current writes may be seen incomplete. */
  running: boolean;
  close(): Promise<void>;
}

/** The object store of a data folder, for administrative work. */
export interface OpenedStore extends OpenedMetadata {
  blobs: BlobStore;
}

export const OBJECTS_DATABASE = 'objects.db';
export const BLOBS_FOLDER = 'blobs';

/** True if there is a store, even if disabled. With `database.url`, its tables always exist. */
export function storeExists(config: PlatformConfig): boolean {
  const { objectsFolder } = dataFolderPaths(config.data);
  return config.database.url !== undefined || existsSync(join(objectsFolder, OBJECTS_DATABASE));
}

export async function openObjectStore(config: PlatformConfig): Promise<OpenedStore> {
  const store = await openStoreMetadata(config);
  try {
    const blobs = await openBlobStore(config.object_store, {
      folder: join(store.folder.objectsFolder, BLOBS_FOLDER),
      random: randomBytes,
      clock: systemClock,
    });
    const close = async (): Promise<void> => {
      await blobs.close();
      await store.close();
    };
    return { ...store, blobs, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Takes the folder's lock if it is free; works without it beside a running platform. */
export async function openStoreMetadata(config: PlatformConfig): Promise<OpenedMetadata> {
  const folder = dataFolderPaths(config.data);
  if (!existsSync(folder.objectsFolder)) throw startErrors.NO_PLATFORM_THERE({ details: { path: folder.path } });
  const release = tryLock(folder.path);
  try {
    const { metadata, database, closeDatabase } = await openDatabaseAndMetadata(config, folder);
    const close = async (): Promise<void> => {
      await metadata.close();
      await closeDatabase();
      release?.();
    };
    return { folder, metadata, database, running: release === null, close };
  } catch (error) {
    release?.();
    throw error;
  }
}

function tryLock(path: string): (() => void) | null {
  try {
    const folder = openDataFolder(path);
    return () => folder.release();
  } catch (error) {
    if (isAppError(error) && error.code === 'DATA_FOLDER_IN_USE') return null;
    throw error;
  }
}

async function openDatabaseAndMetadata(
  config: PlatformConfig,
  folder: DataFolderPaths,
): Promise<{ metadata: MetadataStore; database: Database<unknown> | null; closeDatabase: () => Promise<void> }> {
  if (postgresLocation(config) === null) {
    assertFilesNotMoved(folder);
    await assertFileNotNewer(join(folder.objectsFolder, OBJECTS_DATABASE));
    return { metadata: await openMetadata(null, folder), database: null, closeDatabase: async () => undefined };
  }
  const { main: database } = await openDatabasesForCommand(config, folder);
  return { metadata: await openMetadata(database, folder), database, closeDatabase: () => database.close() };
}

/** Opens the store's own file, or its tables in the platform's PostgreSQL database. */
export function openMetadata(
  database: Database<unknown> | null,
  { objectsFolder }: Pick<DataFolderPaths, 'objectsFolder'>,
  shareOf: (workspaceUuid: string) => string = (workspaceUuid) => workspaceUuid,
): Promise<MetadataStore> {
  const common = { migrations, shareOf };
  if (database?.dialect === 'postgres') return openPostgresMetadataStore({ database, ...common });
  return openSqliteMetadataStore({ file: join(objectsFolder, OBJECTS_DATABASE), ...common });
}
