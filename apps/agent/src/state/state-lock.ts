import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseDatabaseFault } from '@svc/sql/database-fault';
import type { Logger } from '@svc/telemetry';
import { pause, type Clock } from '@svc/runtime';
import { agentErrors } from '../errors.ts';

export interface StateLock {
  /** Idempotent. */
  release(): void;
}

export interface StateLockOptions {
  /** Must exist. */
  folder: string;
  clock: Clock;
  log: Logger;
}

const LOCK_FILE = 'agent.lock';
const HOLDER_FILE = 'agent.pid';
/** These belong to the folder, not to its content. */
export const LOCK_FILES: readonly string[] = [LOCK_FILE, HOLDER_FILE];

/** Longer than a pod may take to stop, so that the next one on the same volume does not fail. */
const WAIT_MS = 45_000;
const ASK_EVERY_MS = 250;

/**
 * Keeps a second agent off the folder: two would run commands twice and corrupt each other's files. Uses an exclusive
 * SQLite lock, which the kernel releases however the process ends (decision 0003). Waits for an agent that is stopping,
 * then rejects with `STATE_DIR_IN_USE`.
 */
export async function lockStateFolder({ folder, clock, log }: StateLockOptions): Promise<StateLock> {
  const deadlineMs = clock.nowMs() + WAIT_MS;
  for (let told = false; ; told = true) {
    const lock = tryLock(folder, log);
    if (lock !== null) return lock;
    const holder = readHolder(folder);
    if (clock.nowMs() >= deadlineMs) {
      throw agentErrors.STATE_DIR_IN_USE({ details: { path: folder, holder, key: 'agent.state_dir' } });
    }
    if (!told)
      log.warn({ folder, holder, wait_ms: WAIT_MS }, 'another agent uses the state folder; waiting for it to exit');
    await pause(clock, ASK_EVERY_MS, new AbortController().signal);
  }
}

/** Null while another process holds it. */
function tryLock(folder: string, log: Logger): StateLock | null {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(folder, LOCK_FILE));
    lock.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const held = lock;
    writeFileSync(join(folder, HOLDER_FILE), `${process.pid} on ${hostname()}\n`, { mode: 0o600 });
    return {
      release: () => {
        if (held.isOpen) held.close();
      },
    };
  } catch (error) {
    lock?.close();
    if (parseDatabaseFault(error)?.kind === 'conflict') return null;
    // A file system without locks still works for a single agent; whether it is writable shows later.
    log.warn({ err: error, folder }, 'the state folder cannot be locked, so a second agent would go unnoticed');
    return { release: () => undefined };
  }
}

/** For messages only: the number may be from another machine or container, or not written yet. */
function readHolder(folder: string): string {
  try {
    return `process ${readFileSync(join(folder, HOLDER_FILE), 'utf8').trim()}`;
  } catch {
    return 'another process';
  }
}
