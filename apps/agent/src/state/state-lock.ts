import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { databaseFaultOf } from '@svc/sql/database-fault';
import type { Logger } from '@svc/telemetry';
import { pause, type Clock } from '../clock.ts';
import { agentErrors } from '../errors.ts';

export interface StateLock {
  /** Again does nothing. */
  release(): void;
}

export interface StateLockOptions {
  /** Must be there. */
  folder: string;
  clock: Clock;
  log: Logger;
}

const LOCK_FILE = 'agent.lock';
const HOLDER_FILE = 'agent.pid';
/** These belong to the folder and not to what it holds. */
export const LOCK_FILES: readonly string[] = [LOCK_FILE, HOLDER_FILE];

/** Longer than a pod may take to stop: the next one on the same volume is not to fail for that. */
const WAIT_MS = 45_000;
const ASK_EVERY_MS = 250;

/**
 * Keeps a second agent off the folder: two would run a command twice and write into one another's files. An exclusive
 * SQLite lock, which the kernel frees with the process, however that ends (decision 0003). Waits while an agent that was
 * told to stop still does; then rejects with `STATE_DIR_IN_USE`.
 */
export async function lockStateFolder({ folder, clock, log }: StateLockOptions): Promise<StateLock> {
  const deadlineMs = clock.nowMs() + WAIT_MS;
  for (let told = false; ; told = true) {
    const lock = tryLock(folder, log);
    if (lock !== null) return lock;
    const holder = holderOf(folder);
    if (clock.nowMs() >= deadlineMs) {
      throw agentErrors.STATE_DIR_IN_USE({ details: { path: folder, holder, key: 'agent.state_dir' } });
    }
    if (!told)
      log.warn({ folder, holder, wait_ms: WAIT_MS }, 'another agent uses the state folder: waiting for its end');
    await pause(clock, ASK_EVERY_MS, new AbortController().signal);
  }
}

/** Null while another one has it. */
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
    if (databaseFaultOf(error)?.kind === 'conflict') return null;
    // A file system that knows no locks did for one agent so far; whether it can be written at all is seen next.
    log.warn({ err: error, folder }, 'the state folder cannot be locked: a second agent on it would not be noticed');
    return { release: () => undefined };
  }
}

/** Only for words: the number may be of another machine or container, or not be written yet. */
function holderOf(folder: string): string {
  try {
    return `process ${readFileSync(join(folder, HOLDER_FILE), 'utf8').trim()}`;
  } catch {
    return 'another process';
  }
}
