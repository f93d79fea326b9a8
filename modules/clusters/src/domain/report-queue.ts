import type { Report, TelemetryStore } from './telemetry.ts';

interface Waiting {
  report: Report;
  resolve: () => void;
  reject: (error: unknown) => void;
}

const MAX_BATCH = 500;
const FAILURES_OF_A_DATABASE = 3;

/**
 * Group commit: while one transaction runs, the reports of all agents collect for the next one. A report's promise
 * settles once the report is on disk. Callers bound the queue: they wait for one report before they read the next.
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
    await new Promise(setImmediate); // reports that arrive in the same tick share the first commit
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      try {
        await this.#store.write(batch.map(({ report }) => report));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        if (batch.length === 1) batch[0]?.reject(error);
        else await this.#writeEach(batch);
      }
    }
    this.#running = undefined;
  }

  /**
   * A bad report must not fail those of other agents. If every write fails, the cause is the database, not the reports.
   */
  async #writeEach(batch: Waiting[]): Promise<void> {
    let failuresInARow = 0;
    let lastError: unknown;
    for (const { report, resolve, reject } of batch) {
      if (failuresInARow >= FAILURES_OF_A_DATABASE) {
        reject(lastError);
        continue;
      }
      try {
        await this.#store.write([report]);
        failuresInARow = 0;
        resolve();
      } catch (error) {
        failuresInARow += 1;
        lastError = error;
        reject(error);
      }
    }
  }
}
