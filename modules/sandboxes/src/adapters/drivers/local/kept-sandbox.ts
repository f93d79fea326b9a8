import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '@svc/runtime';
import type { Isolation } from '../../../domain/driver.ts';

/** The stored data of a sandbox beside its disk: `disks/<id>/sandbox.json`. */
export interface KeptSandbox {
  /** Digest of its image. */
  readonly digest: string;
  /** Absent in records of earlier versions. */
  readonly egressAllow?: readonly string[] | null;
  readonly isolation?: Isolation;
  /** Hashes of the keys of its mounts, in their order. */
  readonly mountKeys?: readonly string[];
}

export async function readKept(dataFolder: string, id: string): Promise<KeptSandbox | null> {
  return readRecord(join(dataFolder, 'disks', id, 'sandbox.json'));
}

/** Writes the record atomically. */
export async function writeRecord(file: string, kept: KeptSandbox): Promise<void> {
  await replaceFile(file, JSON.stringify(kept));
}

async function readRecord(file: string): Promise<KeptSandbox | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as KeptSandbox; // our own file
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null; // all other errors are thrown
    throw error;
  }
}

/** The record of a snapshot: `snapshots/<id>/snapshot.json`, written last; without it, the copy is incomplete. */
export async function readKeptSnapshot(dataFolder: string, id: string): Promise<KeptSandbox | null> {
  return readRecord(join(dataFolder, 'snapshots', id, 'snapshot.json'));
}

/** The record of a layer of a template: `built/<id>.json`. */
export function layerFile(dataFolder: string, id: string): string {
  return join(dataFolder, 'built', `${id}.json`);
}

/** Image digests of all stored sandboxes, snapshots and layers of templates, by id. */
export async function imagesInUse(dataFolder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const id of await readdir(join(dataFolder, 'disks')).catch(noneIfMissing)) {
    const kept = await readKept(dataFolder, id);
    if (kept !== null) found.set(id, kept.digest);
  }
  for (const id of await readdir(join(dataFolder, 'snapshots')).catch(noneIfMissing)) {
    const kept = await readKeptSnapshot(dataFolder, id);
    if (kept !== null) found.set(id, kept.digest);
  }
  for (const name of await readdir(join(dataFolder, 'built')).catch(noneIfMissing)) {
    const id = /^(tpl_[a-z2-7]{26})\.json$/.exec(name)?.[1];
    const kept = id === undefined ? null : await readRecord(layerFile(dataFolder, id));
    if (id !== undefined && kept !== null) found.set(id, kept.digest);
  }
  return found;
}

function noneIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
