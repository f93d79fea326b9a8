import { RecentMap } from './recent-map.ts';

/** Age, number and clock of kept results. */
export interface RecentResultsOptions {
  /** Measured from the start of the load: a result is never older than this. */
  readonly maxAgeMs: number;
  readonly maxEntries: number;
  readonly nowMs: () => number;
}

interface Entry<Value> {
  readonly result: Promise<Value>;
  readonly startedAtMs: number;
}

/** Keeps results for a short time. Callers that ask meanwhile share one load; failures are not kept. */
export class RecentResults<Value> {
  readonly #options: RecentResultsOptions;
  readonly #entries: RecentMap<Entry<Value>>;

  constructor(options: RecentResultsOptions) {
    this.#options = options;
    this.#entries = new RecentMap(options.maxEntries);
  }

  get(key: string, load: () => Promise<Value>): Promise<Value> {
    const startedAtMs = this.#options.nowMs();
    const known = this.#entries.get(key);
    // Both bounds: the clock may have been set back.
    const ageMs = startedAtMs - (known?.startedAtMs ?? Number.NEGATIVE_INFINITY);
    if (known !== undefined && ageMs >= 0 && ageMs < this.#options.maxAgeMs) return known.result;
    const entry = { result: load(), startedAtMs };
    this.#entries.set(key, entry);
    entry.result.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    return entry.result;
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }
}
