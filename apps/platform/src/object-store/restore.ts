import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { migrations } from '@svc/migrations';
import {
  copyBlobs,
  CrcKernel,
  fsck,
  openBlobStore,
  openSqliteMetadataStore,
  openSqliteSnapshot,
  setEngine,
  type BlobStore,
  type CopyReport,
  type FsckReport,
} from '@svc/object-store';
import { systemClock } from '@svc/runtime';
import type { PlatformConfig } from '../config.ts';
import { openDataFolder, type DataFolderPaths } from '../data-folder.ts';
import { startErrors } from '../errors.ts';
import {
  backupLayout,
  listSnapshots,
  OBJECTS_SNAPSHOT,
  openBackupBlobs,
  PLATFORM_SNAPSHOT,
  readManifest,
} from './backup-layout.ts';
import { copyDurably, copyFolder } from './durable-files.ts';
import { BLOBS_FOLDER, OBJECTS_DATABASE } from './open-store.ts';

export interface RestoreReport {
  snapshot: string;
  blobs: number;
  copiedBytes: number;
  /** Blobs that were already bad in the backup, or became bad there. */
  bad: readonly string[];
  masterKeyIncluded: boolean;
  /** Check of the restored store. */
  fsck: FsckReport;
}

export interface RestoreRequest {
  source: string;
  /** Defaults to the newest. */
  snapshot?: string | undefined;
}

/**
 * Fills an empty data folder and the configured engine from a snapshot; restoring into another engine is how a store is
 * moved. The databases come last, so that an interrupted restore leaves nothing that would start.
 */
export async function restore(config: PlatformConfig, request: RestoreRequest): Promise<RestoreReport> {
  if (config.database.url !== undefined) throw startErrors.BACKUP_NEEDS_SQLITE();
  const layout = backupLayout(request.source);
  const snapshot = request.snapshot ?? (await listSnapshots(layout)).at(-1);
  const from = join(layout.snapshotsFolder, snapshot ?? '');
  const manifest = snapshot === undefined ? null : await readManifest(from);
  if (snapshot === undefined || manifest === null) {
    throw startErrors.NO_BACKUP_THERE({ details: { path: request.source } });
  }
  const folder = openDataFolder(config.data);
  const blobs = await openBlobStore(config.object_store, {
    folder: join(folder.objectsFolder, BLOBS_FOLDER),
    random: randomBytes,
    clock: systemClock,
  });
  try {
    assertEmpty(folder);
    const source = await openBackupBlobs(config, layout);
    const copied = await copyInto(blobs, source, join(from, OBJECTS_SNAPSHOT));
    await copyFolder(join(from, 'keys'), folder.keysFolder);
    await copyFolder(join(from, 'tls'), folder.tlsFolder);
    const owner = join(from, basename(folder.ownerFile));
    if (existsSync(owner)) await copyDurably(owner, folder.ownerFile);
    await copyDurably(join(from, OBJECTS_SNAPSHOT), join(folder.objectsFolder, OBJECTS_DATABASE));
    await copyDurably(join(from, PLATFORM_SNAPSHOT), folder.databaseFile);
    return {
      snapshot,
      blobs: copied.blobs,
      copiedBytes: copied.copiedBytes,
      bad: copied.bad,
      masterKeyIncluded: manifest.master_key_included,
      fsck: await settleIn(config, folder, blobs),
    };
  } finally {
    await blobs.close();
    folder.release();
  }
}

async function copyInto(target: BlobStore, source: BlobStore, database: string): Promise<CopyReport> {
  const rows = openSqliteSnapshot(database);
  try {
    return await copyBlobs({ rows, source, target, kernel: new CrcKernel() });
  } finally {
    await rows.close();
  }
}

function assertEmpty(folder: DataFolderPaths): void {
  for (const path of [folder.databaseFile, join(folder.objectsFolder, OBJECTS_DATABASE), folder.ownerFile]) {
    if (existsSync(path)) throw startErrors.DATA_FOLDER_NOT_EMPTY({ details: { path: folder.path } });
  }
}

/** Records the new location of the blobs and verifies that all are there. */
async function settleIn(config: PlatformConfig, folder: DataFolderPaths, blobs: BlobStore): Promise<FsckReport> {
  const file = join(folder.objectsFolder, OBJECTS_DATABASE);
  const metadata = await openSqliteMetadataStore({ file, migrations });
  try {
    await setEngine(metadata, config.object_store);
    return await fsck({ metadata, blobs, clock: systemClock });
  } finally {
    await metadata.close();
  }
}
