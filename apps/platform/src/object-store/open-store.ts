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
import { openDatabase } from '@svc/sql';
import type { PlatformConfig } from '../config.ts';
import { dataFolderPaths, openDataFolder, type DataFolderPaths } from '../data-folder.ts';
import { startErrors } from '../errors.ts';

/** The object store of a data folder, for work on it from outside. */
export interface OpenedStore {
  folder: DataFolderPaths;
  metadata: MetadataStore;
  blobs: BlobStore;
  /** A platform has the folder at the same time: what it is just writing shows here half. */
  running: boolean;
  close(): Promise<void>;
}

export const OBJECTS_DATABASE = 'objects.db';
export const BLOBS_FOLDER = 'blobs';

/** Takes the folder's lock where it is free; beside a running platform it only joins in. */
export async function openObjectStore(config: PlatformConfig): Promise<OpenedStore> {
  const folder = dataFolderPaths(config.data);
  if (!existsSync(folder.objectsFolder)) throw startErrors.NO_PLATFORM_THERE({ details: { path: folder.path } });
  const release = tryLock(folder.path);
  try {
    const { metadata, closeDatabase } = await openMetadata(config, folder);
    const blobs = await openBlobStore(config.object_store, {
      folder: join(folder.objectsFolder, BLOBS_FOLDER),
      random: randomBytes,
      now: Date.now,
    });
    const close = async (): Promise<void> => {
      await metadata.close();
      await closeDatabase();
      await blobs.close();
      release?.();
    };
    return { folder, metadata, blobs, running: release === null, close };
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

async function openMetadata(
  config: PlatformConfig,
  folder: DataFolderPaths,
): Promise<{ metadata: MetadataStore; closeDatabase: () => Promise<void> }> {
  const { url, max_connections: maxConnections } = config.database;
  if (url === undefined) {
    const file = join(folder.objectsFolder, OBJECTS_DATABASE);
    return { metadata: await openSqliteMetadataStore({ file, migrations }), closeDatabase: async () => undefined };
  }
  const database = openDatabase<unknown>({ url, maxConnections });
  const metadata = await openPostgresMetadataStore({ database, migrations });
  return { metadata, closeDatabase: () => database.close() };
}
