import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAppError } from '@svc/errors';
import type { Logger } from '@svc/telemetry';
import type { Clock } from '../clock.ts';
import { agentErrors } from '../errors.ts';
import { replaceFile } from './replace-file.ts';
import { LOCK_FILES, lockStateFolder, type StateLock } from './state-lock.ts';

/** Whose state a folder holds: as the agent was configured, so the id may not be known. */
export interface StateOwner {
  clusterId: string | null;
  clusterName: string;
}

const OWNER_FILE = 'cluster.json';
/** What another cluster's agent left; the last one is kept. */
const ASIDE = 'of-another-cluster';
/** What stays when the rest is set aside; the owner's file goes last and by itself. */
const KEPT: ReadonlySet<string> = new Set([ASIDE, OWNER_FILE, ...LOCK_FILES]);

export interface StateFolderOptions {
  folder: string;
  owner: StateOwner;
  clock: Clock;
  log: Logger;
}

/**
 * Makes the folder this process's own, and this cluster's. Known objects, expectations and commands of another cluster
 * would be told, applied and answered here: they are moved to `of-another-cluster` in it. A folder that says nothing is
 * taken as ours.
 */
export async function claimStateFolder({ folder, owner, clock, log }: StateFolderOptions): Promise<StateLock> {
  let lock: StateLock | undefined;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    lock = await lockStateFolder({ folder, clock, log });
    const before = await ownerOf(folder);
    if (before !== null && !isSame(before, owner)) {
      log.warn({ folder, of: before }, 'the state folder is of another cluster: what it holds is set aside');
      await setAside(folder);
    }
    await replaceFile(join(folder, OWNER_FILE), `${JSON.stringify(owner)}\n`);
    return lock;
  } catch (cause) {
    lock?.release();
    if (isAppError(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw agentErrors.STATE_DIR_UNUSABLE({ details: { path: folder, reason, key: 'agent.state_dir' }, cause });
  }
}

/** By the id, which is never given twice; by the name where one of them does not know it. */
function isSame(one: StateOwner, other: StateOwner): boolean {
  return one.clusterId === null || other.clusterId === null
    ? one.clusterName === other.clusterName
    : one.clusterId === other.clusterId;
}

async function ownerOf(folder: string): Promise<StateOwner | null> {
  const text = await readFile(join(folder, OWNER_FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return text === null ? null : (JSON.parse(text) as StateOwner); // written whole by claimStateFolder
}

/** The file that names the owner goes last: cut off before that, the next start moves what is left. */
async function setAside(folder: string): Promise<void> {
  const aside = join(folder, ASIDE);
  const names = (await readdir(folder)).filter((name) => !KEPT.has(name));
  await mkdir(aside, { recursive: true, mode: 0o700 });
  for (const name of [...names, OWNER_FILE]) {
    await rm(join(aside, name), { recursive: true, force: true });
    await rename(join(folder, name), join(aside, name));
  }
}
