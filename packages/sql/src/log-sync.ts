import { close, fdatasync, open } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { syncFolder } from '@svc/runtime';

const openFile = promisify(open);
const closeFile = promisify(close);
const syncFile = promisify(fdatasync);

/** Brings commits to stable storage. */
export interface LogSync {
  /** Resolves when everything committed before the call is on stable storage. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the log, to sync it as often as needed. */
export type OpenLog = () => Promise<{ sync(): Promise<void>; close(): Promise<void> }>;

/** Syncs the write-ahead log of a SQLite file outside the event loop. */
export function createLogSync(file: string): LogSync {
  return new SharedSync(async () => {
    const descriptor = await openFile(`${file}-wal`, 'r');
    await syncFolder(dirname(file)); // SQLite creates the log without syncing its name
    return { sync: () => syncFile(descriptor), close: () => closeFile(descriptor) };
  });
}

/** Callers that come during a sync share the next one. */
export class SharedSync implements LogSync {
  readonly #open: OpenLog;
  #log: ReturnType<OpenLog> | null = null;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  #failure: unknown = null;

  constructor(open: OpenLog) {
    this.#open = open;
  }

  sync(): Promise<void> {
    this.#next ??= this.#run(this.#running);
    return this.#next;
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#running, this.#next]);
    const log = this.#log;
    this.#log = null;
    await (await log)?.close();
  }

  async #run(previous: Promise<void> | null): Promise<void> {
    await previous?.catch(() => undefined);
    await Promise.resolve(); // so that `sync` has stored this run
    this.#running = this.#next;
    this.#next = null;
    // After a failed sync, the kernel may have dropped what it could not write: a later one would succeed without it.
    if (this.#failure !== null) throw this.#failure;
    try {
      this.#log ??= this.#open();
      await (await this.#log).sync();
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }
}
