import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { migrations } from '@svc/migrations';
import {
  copyBlobs,
  CrcKernel,
  fsck,
  openBlobStore,
  openPostgresMetadataStore,
  openSqliteMetadataStore,
  openSqliteSnapshot,
  setEngine,
  type BlobStore,
  type CopyReport,
  type FsckReport,
  type MetadataStore,
} from '@svc/object-store';
import { systemClock } from '@svc/runtime';
import { copyToPostgres, migrate, openDatabase, type DatabaseLocation } from '@svc/sql';
import type { PlatformConfig } from '../config.ts';
import { openDataFolder, type DataFolderPaths } from '../data-folder.ts';
import { migrateFile, postgresLocation } from '../databases.ts';
import { startErrors } from '../errors.ts';
import {
  backupLayout,
  listSnapshots,
  OBJECTS_SNAPSHOT,
  openBackupBlobs,
  PLATFORM_SNAPSHOT,
  readManifest,
} from './backup-layout.ts';
import { copyDurably, copyFolder, makeFolder } from './durable-files.ts';
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

/** A complete snapshot, and where it is restored to. */
interface Restoration {
  readonly config: PlatformConfig;
  readonly snapshot: string;
  /** Folder of the snapshot. */
  readonly from: string;
  readonly folder: DataFolderPaths;
  readonly source: BlobStore;
  readonly blobs: BlobStore;
}

type Restored = Pick<RestoreReport, 'blobs' | 'copiedBytes' | 'bad' | 'fsck'>;

/**
 * Fills an empty data folder, an empty PostgreSQL database if one is configured, and the configured engine from a
 * snapshot; restoring into another engine or database is how a store is moved. The databases are complete last, so that
 * an interrupted restore leaves nothing that would start. Into PostgreSQL, the next call continues it.
 */
export async function restore(config: PlatformConfig, request: RestoreRequest): Promise<RestoreReport> {
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
    const restoration = { config, snapshot, from, folder, source, blobs };
    const location = postgresLocation(config);
    const restored = await (location === null ? fillSqlite(restoration) : fillPostgres(restoration, location));
    return { snapshot, ...restored, masterKeyIncluded: manifest.master_key_included };
  } finally {
    await blobs.close();
    folder.release();
  }
}

async function fillSqlite(restoration: Restoration): Promise<Restored> {
  const { config, from, folder, blobs } = restoration;
  const { bad, blobs: count, copiedBytes } = await restoreFiles(restoration);
  await restoreOwnerFile(restoration);
  const file = join(folder.objectsFolder, OBJECTS_DATABASE);
  await copyDurably(join(from, OBJECTS_SNAPSHOT), file);
  await copyDurably(join(from, PLATFORM_SNAPSHOT), folder.databaseFile);
  const metadata = await openSqliteMetadataStore({ file, migrations });
  return { blobs: count, copiedBytes, bad, fsck: await settleIn(config, metadata, blobs) };
}

/** Until the blobs are there too, the database refuses to be used. */
async function fillPostgres(restoration: Restoration, location: DatabaseLocation): Promise<Restored> {
  const { config, snapshot, folder, blobs } = restoration;
  const target = openDatabase<unknown>(location);
  try {
    await migrate(target, migrations);
    const reports: CopyReport[] = [];
    await withMigratedCopies(restoration, (files) =>
      copyToPostgres({
        files,
        target,
        source: `backup ${snapshot} in ${folder.path}`,
        beforeFinish: async () => {
          reports.push(await restoreFiles(restoration));
        },
      }),
    );
    await restoreOwnerFile(restoration);
    const metadata = await openPostgresMetadataStore({ database: target, migrations });
    const [{ blobs: count, copiedBytes, bad } = { blobs: 0, copiedBytes: 0, bad: [] }] = reports;
    return { blobs: count, copiedBytes, bad, fsck: await settleIn(config, metadata, blobs) };
  } finally {
    await target.close();
  }
}

/** The snapshot may come from an older version; it is not changed itself. */
async function withMigratedCopies(
  { from, folder }: Restoration,
  work: (files: readonly string[]) => Promise<unknown>,
): Promise<void> {
  const scratch = join(folder.path, 'restore');
  await rm(scratch, { recursive: true, force: true }); // of an interrupted restore
  await makeFolder(scratch);
  const platform = join(scratch, PLATFORM_SNAPSHOT);
  const objects = join(scratch, OBJECTS_SNAPSHOT);
  try {
    await copyDurably(join(from, PLATFORM_SNAPSHOT), platform);
    await copyDurably(join(from, OBJECTS_SNAPSHOT), objects);
    await migrateFile(platform, 'platform');
    await migrateFile(objects, 'objects');
    await work([platform, objects]);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Blobs, keys and certificates. */
async function restoreFiles({ from, folder, source, blobs }: Restoration): Promise<CopyReport> {
  const rows = openSqliteSnapshot(join(from, OBJECTS_SNAPSHOT));
  try {
    const copied = await copyBlobs({ rows, source, target: blobs, kernel: new CrcKernel() });
    await copyFolder(join(from, 'keys'), folder.keysFolder);
    await copyFolder(join(from, 'tls'), folder.tlsFolder);
    return copied;
  } finally {
    await rows.close();
  }
}

async function restoreOwnerFile({ from, folder }: Restoration): Promise<void> {
  const owner = join(from, basename(folder.ownerFile));
  if (existsSync(owner)) await copyDurably(owner, folder.ownerFile);
}

function assertEmpty(folder: DataFolderPaths): void {
  for (const path of [folder.databaseFile, join(folder.objectsFolder, OBJECTS_DATABASE), folder.ownerFile]) {
    if (existsSync(path)) throw startErrors.DATA_FOLDER_NOT_EMPTY({ details: { path: folder.path } });
  }
}

/** Records the new location of the blobs and verifies that all are there. Closes the metadata. */
async function settleIn(config: PlatformConfig, metadata: MetadataStore, blobs: BlobStore): Promise<FsckReport> {
  try {
    await setEngine(metadata, config.object_store, blobs);
    return await fsck({ metadata, blobs, clock: systemClock });
  } finally {
    await metadata.close();
  }
}
