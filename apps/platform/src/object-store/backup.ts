import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  copyBlobs,
  CrcKernel,
  openSqliteSnapshot,
  pruneBlobs,
  snapshotSqlite,
  type BlobStore,
  type CopyReport,
  type MetadataStore,
} from '@svc/object-store';
import { BackgroundLoop, replaceFile, syncFolder } from '@svc/runtime';
import { copyToSqlite } from '@svc/sql';
import type { PlatformConfig } from '../config.ts';
import { migrateFile } from '../databases.ts';
import { VERSION } from '../version.ts';
import {
  backupLayout,
  listSnapshots,
  MANIFEST_FILE,
  OBJECTS_SNAPSHOT,
  openBackupBlobs,
  PLATFORM_SNAPSHOT,
  type BackupLayout,
  type BackupManifest,
} from './backup-layout.ts';
import { copyDurably, copyFolder, makeFolder, syncFile } from './durable-files.ts';
import { OBJECTS_DATABASE, openObjectStore, type OpenedStore } from './open-store.ts';

export interface BackupReport extends CopyReport {
  snapshot: string;
  /** Deleted old snapshots, and the blobs that only they needed. */
  removedSnapshots: number;
  removedBlobs: number;
}

export interface BackupRequest {
  target: string;
  /** Number of snapshots to keep, including this one. */
  keep: number;
  now: () => Date;
}

/**
 * Takes one consistent snapshot of the database and of everything in the data folder except sandboxes, whether or not
 * the platform runs. Holds the trash until the blobs are copied; copies each database in one read transaction, the object
 * store's first, then the blobs that its rows need. Blobs never change, so only new ones are copied. PostgreSQL is
 * written to the same SQLite files: every backup can be restored on either database.
 */
export async function backUp(config: PlatformConfig, request: BackupRequest): Promise<BackupReport> {
  const layout = backupLayout(request.target);
  await makeFolder(layout.snapshotsFolder);
  const store = await openObjectStore(config);
  try {
    const target = await openBackupBlobs(config, layout);
    const snapshot = request.now().toISOString().replace(/[:.]/g, '-');
    const report = await holdingTrash(store.metadata, () =>
      takeSnapshot(config, store, { layout, target, snapshot, now: request.now }),
    );
    const removed = await prune(layout, target, request.keep);
    return { ...report, ...removed, snapshot };
  } finally {
    await store.close();
  }
}

const HOLD_MS = 10 * 60_000;
const HOLD_AGAIN_MS = 60_000;

/** A hold that is not renewed expires, so that a killed backup does not hold the trash forever. */
async function holdingTrash<Result>(metadata: MetadataStore, work: () => Promise<Result>): Promise<Result> {
  const holder = `backup-${randomUUID()}`;
  const hold = () => metadata.holdTrash({ holder, untilMs: Date.now() + HOLD_MS });
  await hold();
  const renewal = new BackgroundLoop({
    run: hold,
    intervalMs: HOLD_AGAIN_MS,
    onError: () => undefined, // the next one may succeed
  });
  renewal.start();
  try {
    return await work();
  } finally {
    await renewal.close();
    await metadata.releaseTrash({ holder });
  }
}

interface Snapshot {
  layout: BackupLayout;
  target: BlobStore;
  snapshot: string;
  now: () => Date;
}

async function takeSnapshot(config: PlatformConfig, store: OpenedStore, job: Snapshot): Promise<CopyReport> {
  const { folder, blobs } = store;
  const into = join(job.layout.snapshotsFolder, job.snapshot);
  await makeFolder(into);
  const objects = join(into, OBJECTS_SNAPSHOT);
  await snapshotDatabases(store, { objects, platform: join(into, PLATFORM_SNAPSHOT) });
  for (const name of [OBJECTS_SNAPSHOT, PLATFORM_SNAPSHOT]) await syncFile(join(into, name));
  await copyFolder(folder.keysFolder, join(into, 'keys'));
  await copyFolder(folder.tlsFolder, join(into, 'tls'));
  if (existsSync(folder.ownerFile)) await copyDurably(folder.ownerFile, join(into, basename(folder.ownerFile)));
  const rows = openSqliteSnapshot(objects);
  try {
    const copied = await copyBlobs({ rows, source: blobs, target: job.target, kernel: new CrcKernel() });
    const manifest: BackupManifest = {
      format: 1,
      version: VERSION,
      created_at: job.now().toISOString(),
      blobs: copied.blobs,
      bad_blobs: copied.bad,
      master_key_included: config.object_store.master_key === undefined,
    };
    await syncFolder(job.layout.snapshotsFolder);
    await replaceFile(join(into, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`);
    return copied;
  } finally {
    await rows.close();
  }
}

async function snapshotDatabases(
  { database, folder }: OpenedStore,
  { objects, platform }: { objects: string; platform: string },
): Promise<void> {
  if (database === null) {
    snapshotSqlite(join(folder.objectsFolder, OBJECTS_DATABASE), objects);
    snapshotSqlite(folder.databaseFile, platform);
    return;
  }
  await migrateFile(objects, 'objects');
  await migrateFile(platform, 'platform');
  await copyToSqlite(database, [objects, platform]);
}

async function prune(layout: BackupLayout, target: BlobStore, keep: number) {
  const all = await listSnapshots(layout);
  const old = all.slice(0, Math.max(0, all.length - keep));
  for (const name of old) await rm(join(layout.snapshotsFolder, name), { recursive: true });
  if (old.length === 0) return { removedSnapshots: 0, removedBlobs: 0 };
  const kept = all
    .slice(old.length)
    .map((name) => openSqliteSnapshot(join(layout.snapshotsFolder, name, OBJECTS_SNAPSHOT)));
  try {
    return { removedSnapshots: old.length, removedBlobs: await pruneBlobs(target, kept) };
  } finally {
    for (const snapshot of kept) await snapshot.close();
  }
}
