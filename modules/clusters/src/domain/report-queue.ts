import type { Report, TelemetryStore } from './telemetry.ts';

interface Waiting {
  report: Report;
  resolve: () => void;
  reject: (error: unknown) => void;
}

const MAX_BATCH = 500;

/**
 * Group commit: while one transaction runs, the reports of all agents gather for the next. A report's promise settles
 * when it is on disk. The queue is bounded by the callers, which wait for one report before they read the next.
 */
export class ReportQueue {
  readonly #store: TelemetryStore;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;

  constructor(store: TelemetryStore) {
    this.#store = store;
  }

  write(report: Report): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ report, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when nothing is left to write. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    await new Promise(setImmediate); // what arrived in the same turn of the loop shares the first commit
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      try {
        await this.#store.write(batch.map(({ report }) => report));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#running = undefined;
  }
}
