import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import type { CheckpointReply, CheckpointRequest, WriterSettings } from './writer-protocol.ts';

/** The thread has almost nothing on its heap. */
const YOUNG_GENERATION_MIB = 1;

/**
 * Keeps the write-ahead log short. Another thread copies a long log, which takes up to a second on a slow disk, while
 * commits continue; the writer then copies the few pages written meanwhile and truncates the log.
 */
export class LogKeeper {
  readonly #database: DatabaseSync;
  readonly #settings: WriterSettings;
  #worker: Worker | null = null;
  #state: 'short' | 'copying' | 'copied' = 'short';

  constructor(database: DatabaseSync, settings: WriterSettings) {
    this.#database = database;
    this.#settings = settings;
  }

  /** Call after each batch. */
  check(): void {
    if (this.#state === 'copied') this.#truncate();
    if (this.#state !== 'short') return;
    const log = statSync(`${this.#settings.file}-wal`, { throwIfNoEntry: false });
    if (log === undefined || log.size < this.#settings.checkpointBytes) return;
    this.#state = 'copying';
    this.#start().postMessage('copy' satisfies CheckpointRequest);
  }

  /** Resolves once the thread has ended, which it does by itself. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    if (worker === null) return;
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage('close' satisfies CheckpointRequest);
    await exited;
  }

  /** Stays `copied` while a reader uses the log, to try again after the next batch. */
  #truncate(): void {
    try {
      this.#database.exec('pragma busy_timeout = 0');
      const { busy } = this.#database.prepare('pragma wal_checkpoint(truncate)').get() as { busy: number }; // SQLite's columns
      if (busy === 0) this.#state = 'short';
    } catch {
      this.#state = 'short'; // a full disk: commits report it, and the next one asks again
    } finally {
      this.#database.exec('pragma busy_timeout = 5000');
    }
  }

  #start(): Worker {
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), {
      workerData: this.#settings,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    worker.on('message', (_reply: CheckpointReply) => {
      this.#state = 'copied';
      this.#truncate();
    });
    worker.on('error', () => {
      this.#worker = null;
      this.#state = 'copied'; // without the thread, the writer copies everything itself
    });
    this.#worker = worker;
    return worker;
  }
}
