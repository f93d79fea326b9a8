import { randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseDatabaseFault } from '@svc/sql/database-fault';
import { startErrors } from './errors.ts';

const LOCK_FILE = 'svc.lock';

/** Paths below the data folder. */
export interface DataFolderPaths {
  readonly path: string;
  readonly databaseFile: string;
  readonly objectsFolder: string;
  readonly sandboxesFolder: string;
  readonly keysFolder: string;
  readonly tlsFolder: string;
  /** Created by `svc agent image --data`; may not exist. */
  readonly agentImagesFolder: string;
  readonly ownerFile: string;
}

export interface DataFolder extends DataFolderPaths {
  /**
   * Identifies the lock on this boot of this machine. An earlier process that recorded the same place has ended: it
   * held this lock. Differs for a copy of the folder. Null if the system does not name its boot.
   */
  readonly place: string | null;
  release(): void;
}

export function dataFolderPaths(path: string): DataFolderPaths {
  const folder = resolve(path);
  return {
    path: folder,
    databaseFile: join(folder, 'svc.db'),
    objectsFolder: join(folder, 'objects'),
    sandboxesFolder: join(folder, 'sandboxes'),
    keysFolder: join(folder, 'keys'),
    tlsFolder: join(folder, 'tls'),
    agentImagesFolder: join(folder, 'agent-images'),
    ownerFile: join(folder, 'owner.json'),
  };
}

/**
 * Locks the folder for this process. An exclusive SQLite lock, which the kernel releases however the process ends; a
 * pid file alone would survive a kill -9.
 */
export function openDataFolder(path: string): DataFolder {
  const paths = dataFolderPaths(path);
  try {
    makeFolder(paths.path);
    accessSync(paths.path, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw explain(paths.path, cause);
  }
  const lock = takeLock(paths.path);
  try {
    for (const each of [paths.objectsFolder, paths.sandboxesFolder, paths.keysFolder, paths.tlsFolder]) {
      makeFolder(each);
    }
  } catch (cause) {
    lock.close();
    throw explain(paths.path, cause);
  }
  return { ...paths, place: identifyLock(paths.path), release: () => lock.close() };
}

/**
 * Creates missing parents one at a time: Node's recursive mkdir never returns if a file system rejects new folders with
 * ENOENT, as /proc does.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function takeLock(folder: string): DatabaseSync {
  const pidFile = join(folder, 'svc.pid');
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(folder, LOCK_FILE));
    lock.exec('PRAGMA journal_mode = DELETE; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
    return lock;
  } catch (cause) {
    lock?.close();
    if (parseDatabaseFault(cause)?.kind === 'conflict') {
      throw startErrors.DATA_FOLDER_IN_USE({ details: { path: folder, holder: readHolder(pidFile) }, cause });
    }
    throw explain(folder, cause);
  }
}

/** The boot id also tells machines apart, and a locked file keeps its inode. */
function identifyLock(folder: string): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const { dev, ino } = statSync(join(folder, LOCK_FILE), { bigint: true });
    return `${boot}:${dev}:${ino}`;
  } catch {
    return null; // not Linux: the end of a lease tells instead
  }
}

function readHolder(pidFile: string): string {
  try {
    return ` (pid ${readFileSync(pidFile, 'utf8').trim()})`;
  } catch {
    return ''; // the other process has not written it yet; only the lock counts
  }
}

/** Maps operating system errors to catalogue errors, for every step that writes to the data folder. */
export function explain(path: string, cause: unknown): Error {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const message = cause instanceof Error ? cause.message : String(cause);
  const fault = parseDatabaseFault(cause)?.kind;
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'DATABASE_FULL' || fault === 'disk-full') {
    return startErrors.DISK_FULL({ details: { path }, cause });
  }
  if (code === 'DATABASE_DAMAGED' || fault === 'damaged') {
    return startErrors.DATABASE_DAMAGED({ details: { path, reason: message }, cause });
  }
  return startErrors.DATA_FOLDER_NOT_WRITABLE({ details: { path, reason: code === '' ? message : code }, cause });
}

/** Stable across restarts of this data folder, and unique among replicas. */
export function loadOrCreateReplicaId(dataFolder: string, newId: () => string = randomUUID): string {
  const file = join(dataFolder, 'replica-id');
  try {
    const known = readFileSync(file, 'utf8').trim();
    if (known !== '') return known;
  } catch {
    // the first start: there is none yet
  }
  const id = newId();
  writeFileSync(file, `${id}\n`, { mode: 0o600 });
  return id;
}
