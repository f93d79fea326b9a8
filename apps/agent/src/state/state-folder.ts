import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAppError } from '@svc/errors';
import type { Logger } from '@svc/telemetry';
import { type Clock, replaceFile } from '@svc/runtime';
import { agentErrors } from '../errors.ts';
import { LOCK_FILES, lockStateFolder, type StateLock } from './state-lock.ts';

/** The owner of a state folder as configured; the id may be unknown. */
export interface StateOwner {
  clusterId: string | null;
  clusterName: string;
}

const OWNER_FILE = 'cluster.json';
/** State of another cluster's agent; only the most recent is kept. */
const ASIDE = 'of-another-cluster';
/** Files that stay when the rest is set aside; the owner's file is moved last, separately. */
const KEPT: ReadonlySet<string> = new Set([ASIDE, OWNER_FILE, ...LOCK_FILES]);

export interface StateFolderOptions {
  folder: string;
  owner: StateOwner;
  clock: Clock;
  log: Logger;
}

/**
 * Locks the folder for this process and cluster. Another cluster's objects, expectations and commands would be
 * reported, applied and answered here, so they are moved to its subfolder `of-another-cluster`. A folder without an
 * owner is taken over.
 */
export async function claimStateFolder({ folder, owner, clock, log }: StateFolderOptions): Promise<StateLock> {
  let lock: StateLock | undefined;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    lock = await lockStateFolder({ folder, clock, log });
    const before = await readOwner(folder);
    if (before !== null && !isSame(before, owner)) {
      log.warn({ folder, of: before }, 'the state folder belongs to another cluster; its contents were moved aside');
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

/** Compares ids, which are never reused, or names if one id is unknown. */
function isSame(one: StateOwner, other: StateOwner): boolean {
  return one.clusterId === null || other.clusterId === null
    ? one.clusterName === other.clusterName
    : one.clusterId === other.clusterId;
}

async function readOwner(folder: string): Promise<StateOwner | null> {
  const text = await readFile(join(folder, OWNER_FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return text === null ? null : (JSON.parse(text) as StateOwner); // written by claimStateFolder
}

/** Moves the owner's file last: if interrupted before that, the next start moves the rest. */
async function setAside(folder: string): Promise<void> {
  const aside = join(folder, ASIDE);
  const names = (await readdir(folder)).filter((name) => !KEPT.has(name));
  await mkdir(aside, { recursive: true, mode: 0o700 });
  for (const name of [...names, OWNER_FILE]) {
    await rm(join(aside, name), { recursive: true, force: true });
    await rename(join(folder, name), join(aside, name));
  }
}
