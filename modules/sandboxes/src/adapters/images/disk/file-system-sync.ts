import { runTool } from '../run-tool.ts';

/**
 * Brings everything that was written below a folder to the disk. Whoever asks while a run is under way waits for the one
 * after it, together with all who ask until then: many layers cost a few runs.
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
      this.#running = running.catch(() => undefined); // told to those who wait for this run
      return running;
    });
    await this.#next;
  }
}

const SYNC_LIMIT_MS = 120_000;
