import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { openBlobStore, type BlobStore } from '@svc/object-store';
import { systemClock } from '@svc/runtime';
import type { PlatformConfig } from '../config.ts';
import { startErrors } from '../errors.ts';

/**
 * A backup folder: `blobs/` in the layout of the embedded engine, shared by all snapshots, and `snapshots/<time>/` with
 * the databases, the keys and the certificates. A snapshot is complete once its manifest exists.
 */
export interface BackupLayout {
  readonly blobsFolder: string;
  readonly snapshotsFolder: string;
}

export const MANIFEST_FILE = 'manifest.json';
export const PLATFORM_SNAPSHOT = 'svc.db';
export const OBJECTS_SNAPSHOT = 'objects.db';

export interface BackupManifest {
  format: 1;
  version: string;
  created_at: string;
  blobs: number;
  /** Blobs that were already missing or damaged at the source. */
  bad_blobs: readonly string[];
  /** False if the master key came from the configuration and is not in the backup. */
  master_key_included: boolean;
}

export function backupLayout(target: string): BackupLayout {
  return { blobsFolder: join(target, 'blobs'), snapshotsFolder: join(target, 'snapshots') };
}

export function openBackupBlobs(config: PlatformConfig, layout: BackupLayout): Promise<BlobStore> {
  const parts = { folder: layout.blobsFolder, random: randomBytes, clock: systemClock };
  return openBlobStore({ ...config.object_store, engine: 'embedded' }, parts);
}

/** Complete snapshots, oldest first. */
export async function listSnapshots(layout: BackupLayout): Promise<string[]> {
  const names: string[] = [];
  for (const name of (await readdir(layout.snapshotsFolder).catch((): string[] => [])).toSorted()) {
    if ((await readManifest(join(layout.snapshotsFolder, name))) !== null) names.push(name);
  }
  return names;
}

export async function readManifest(folder: string): Promise<BackupManifest | null> {
  let text: string;
  try {
    text = await readFile(join(folder, MANIFEST_FILE), 'utf8');
  } catch {
    return null; // incomplete, or not a snapshot
  }
  const manifest = JSON.parse(text) as BackupManifest; // written by `backUp`; the format is checked next
  if (manifest.format !== 1) throw startErrors.BACKUP_UNKNOWN({ details: { path: folder } });
  return manifest;
}
