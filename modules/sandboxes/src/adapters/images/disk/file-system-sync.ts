import { runTool } from '../run-tool.ts';

/**
 * Syncs everything written below a folder to disk. Calls during a run share the next run, so that many layers cost only
 * a few runs.
 */
export class FileSystemSync {
  readonly #run: () => Promise<unknown>;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<unknown> | null = null;

  constructor(run: () => Promise<unknown>) {
    this.#run = run;
  }

  static ofFolder(folder: string): FileSystemSync {
    return new FileSystemSync(() => runTool('sync', ['-f', folder], { signal: AbortSignal.timeout(SYNC_LIMIT_MS) }));
  }

  async done(): Promise<void> {
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      const running = this.#run();
      this.#running = running.catch(() => undefined); // reported to the waiters of this run
      return running;
    });
    await this.#next;
  }
}

const SYNC_LIMIT_MS = 120_000;
