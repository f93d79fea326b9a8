import { BackgroundLoop, backgroundClock } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { PreparedFigures, PreparedStarts, SandboxSpec } from '../../../domain/driver.ts';

/** After a start, its own first prompt has priority. */
const REFILL_DELAY_MS = 50;
const FIRST_REST_MS = 1000;
const MAX_REST_MS = 60_000;
/** Interval of liveness checks; nothing else reports that a prepared start has died. */
const CHECK_INTERVAL_MS = 5000;

/** What all prepared starts are made for. */
export type PreparedKind = Pick<SandboxSpec, 'resources' | 'network'>;

export interface LocalPreparedStartsOptions {
  /** Number to keep ready. */
  readonly count: number;
  readonly kind: PreparedKind;
  readonly newId: () => string;
  readonly prepare: (id: string) => Promise<void>;
  readonly remove: (id: string) => Promise<void>;
  /** Ids known to the launcher whose first process is alive. */
  readonly living: () => Promise<ReadonlySet<string>>;
  readonly log: Logger;
}

/** Replaces used prepared starts, one at a time, while no start is in progress. */
export class LocalPreparedStarts implements PreparedStarts {
  readonly #options: LocalPreparedStartsOptions;
  #ready: readonly string[] = [];
  /** Prepared starts that died while waiting; their folder, group and slot still exist. */
  #lost: readonly string[] = [];
  readonly #taken = new Set<string>();
  #making: string | null = null;
  #startsUnderWay = 0;
  #hits = 0;
  #misses = 0;
  #cancelRefill: () => void = () => undefined;
  #filling: Promise<void> | null = null;
  #restMs = 0;
  #closed = false;
  readonly #checks: BackgroundLoop;

  constructor(options: LocalPreparedStartsOptions) {
    this.#options = options;
    this.#checks = new BackgroundLoop({
      run: () => this.#check(),
      intervalMs: CHECK_INTERVAL_MS,
      onError: (err) => options.log.error({ err }, 'prepared starts could not be checked'),
    });
    if (options.count > 0) this.#checks.start();
    this.#refill();
  }

  take(wish: Omit<SandboxSpec, 'id' | 'hostname'>): string | null {
    if (this.#options.count === 0 || this.#closed) return null;
    const found = this.#serves(wish) ? this.#ready[0] : undefined;
    if (found === undefined) {
      this.#misses += 1;
      return null;
    }
    this.#hits += 1;
    this.#ready = this.#ready.slice(1);
    this.#taken.add(found);
    return found;
  }

  release(id: string): void {
    if (!this.#taken.delete(id)) return;
    if (this.#closed) void this.#discard(id);
    else this.#ready = [...this.#ready, id]; // if it has died, the next check finds out
  }

  /** Forgets a taken id whose sandbox is removed. */
  forget(id: string): void {
    if (this.#taken.delete(id)) this.#refill();
  }

  /** Drops all prepared starts, which ended with the launcher. The next launcher cleans up, and new ones are made. */
  launcherEnded(): void {
    this.#lose(this.#ready);
  }

  /** Pauses preparation while `work` runs. */
  async whileStarting<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    this.#taken.delete(id);
    this.#startsUnderWay += 1;
    try {
      return await work();
    } finally {
      this.#startsUnderWay -= 1;
      this.#refill();
    }
  }

  /** Whether the id is a prepared start rather than a sandbox. */
  owns(id: string): boolean {
    return id === this.#making || this.#ready.includes(id) || this.#lost.includes(id);
  }

  figures(): PreparedFigures {
    return { ready: this.#ready.length, target: this.#options.count, hits: this.#hits, misses: this.#misses };
  }

  /** Removes all prepared starts. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelRefill();
    await this.#checks.close();
    await this.#filling;
    this.#lost = [...this.#lost, ...this.#ready];
    this.#ready = [];
    await this.#removeLost();
  }

  #serves(wish: Omit<SandboxSpec, 'id' | 'hostname'>): boolean {
    const { kind } = this.#options;
    return (
      wish.isolation === 'namespaces' &&
      wish.network === kind.network &&
      wish.resources.diskMb === kind.resources.diskMb &&
      (wish.snapshotId ?? null) === null &&
      (wish.egressAllow ?? null) === null
    );
  }

  #refill(): void {
    if (this.#closed || this.#options.count === 0 || this.#filling !== null) return;
    this.#cancelRefill(); // restart the delay at each start
    const begin = (): void => {
      this.#filling = this.#fill().finally(() => {
        this.#filling = null;
        if (this.#wantsMore || this.#lost.length > 0) this.#refill(); // a start intervened or a preparation failed
      });
    };
    this.#cancelRefill = backgroundClock.setTimer(begin, Math.max(REFILL_DELAY_MS, this.#restMs));
  }

  get #wantsMore(): boolean {
    return !this.#closed && this.#startsUnderWay === 0 && this.#ready.length < this.#options.count;
  }

  async #fill(): Promise<void> {
    const { newId, prepare, log } = this.#options;
    await this.#removeLost();
    while (this.#wantsMore) {
      const id = newId();
      this.#making = id;
      try {
        await prepare(id);
        this.#ready = [...this.#ready, id];
        this.#restMs = 0;
      } catch (error) {
        this.#restMs = Math.min(Math.max(FIRST_REST_MS, this.#restMs * 2), MAX_REST_MS);
        log.warn({ err: error, rest_ms: this.#restMs }, 'preparing a start failed');
        await this.#discard(id); // a launcher that died meanwhile left its state behind
        return;
      }
    }
    await this.#removeLost();
  }

  async #check(): Promise<void> {
    const asked = this.#ready;
    if (asked.length === 0 || this.#filling !== null) return;
    let living: ReadonlySet<string>;
    try {
      living = await this.#options.living();
    } catch {
      return; // callers of the launcher report its failure
    }
    this.#lose(asked.filter((id) => !living.has(id)));
  }

  /** Moves those of the ids that are still waiting to the lost ones. */
  #lose(ended: readonly string[]): void {
    const lost = this.#ready.filter((id) => ended.includes(id));
    if (lost.length === 0 || this.#closed) return;
    this.#ready = this.#ready.filter((id) => !lost.includes(id));
    this.#lost = [...this.#lost, ...lost];
    this.#refill();
  }

  async #removeLost(): Promise<void> {
    const lost = this.#lost;
    for (const id of lost) await this.#discard(id);
    this.#lost = this.#lost.filter((id) => !lost.includes(id)); // more may have been lost meanwhile
  }

  async #discard(id: string): Promise<void> {
    await this.#options.remove(id).catch((error: unknown) => {
      this.#options.log.error({ err: error, sandbox: id }, 'a prepared start could not be removed');
    });
  }
}
