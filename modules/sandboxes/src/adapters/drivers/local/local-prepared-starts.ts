import type { Logger } from '@svc/telemetry';
import type { PreparedFigures, PreparedStarts, SandboxSpec } from '../../../domain/driver.ts';

/** After a start its own first prompt goes first. */
const REFILL_DELAY_MS = 50;
const FIRST_REST_MS = 1000;
const MAX_REST_MS = 60_000;
/** How often it is asked whether what waits still lives: nobody else would notice the end of one. */
const LOOK_INTERVAL_MS = 5000;

/** What all prepared starts are for. */
export type PreparedKind = Pick<SandboxSpec, 'resources' | 'network'>;

export interface LocalPreparedStartsOptions {
  /** How many wait. */
  readonly count: number;
  readonly kind: PreparedKind;
  readonly newId: () => string;
  readonly prepare: (id: string) => Promise<void>;
  readonly remove: (id: string) => Promise<void>;
  /** Of all that the launcher has, those whose first process lives. */
  readonly living: () => Promise<ReadonlySet<string>>;
  readonly log: Logger;
}

/** Makes prepared starts again as they are used, one after the other, while nobody waits for a start. */
export class LocalPreparedStarts implements PreparedStarts {
  readonly #options: LocalPreparedStartsOptions;
  #ready: readonly string[] = [];
  /** Those that ended while they waited; their folder, group and slot are still there. */
  #lost: readonly string[] = [];
  readonly #taken = new Set<string>();
  #making: string | null = null;
  #startsUnderWay = 0;
  #hits = 0;
  #misses = 0;
  #timer: NodeJS.Timeout | null = null;
  #filling: Promise<void> | null = null;
  #restMs = 0;
  #closed = false;
  readonly #looking: NodeJS.Timeout | null;

  constructor(options: LocalPreparedStartsOptions) {
    this.#options = options;
    this.#looking = options.count === 0 ? null : setInterval(() => void this.#look(), LOOK_INTERVAL_MS).unref();
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
    this.#refill();
    return found;
  }

  giveBack(id: string): void {
    if (!this.#taken.delete(id)) return;
    if (this.#closed) void this.#discard(id);
    else this.#ready = [...this.#ready, id]; // one that ended meanwhile is found by the next look
  }

  /** It is gone, with whatever it was taken for. */
  forget(id: string): void {
    this.#taken.delete(id);
  }

  /** What waits ended with it: the next launcher removes what is left of them, and new ones are made. */
  launcherEnded(): void {
    this.#lose(this.#ready);
  }

  /** Nothing is prepared while this works. */
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

  /** Whether it is one of these, and no sandbox. */
  owns(id: string): boolean {
    return id === this.#making || this.#ready.includes(id) || this.#lost.includes(id);
  }

  figures(): PreparedFigures {
    return { ready: this.#ready.length, target: this.#options.count, hits: this.#hits, misses: this.#misses };
  }

  /** Removes what waits. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#looking !== null) clearInterval(this.#looking);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
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
    if (this.#timer !== null) clearTimeout(this.#timer); // the last start counts
    const begin = (): void => {
      this.#timer = null;
      this.#filling = this.#fill().finally(() => {
        this.#filling = null;
        if (this.#wantsMore || this.#lost.length > 0) this.#refill(); // a start came between, or one failed
      });
    };
    this.#timer = setTimeout(begin, Math.max(REFILL_DELAY_MS, this.#restMs));
    this.#timer.unref();
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
        log.warn({ err: error, rest_ms: this.#restMs }, 'a start could not be prepared');
        await this.#discard(id); // a launcher that ended in between left what it had
        return;
      }
    }
    await this.#removeLost();
  }

  async #look(): Promise<void> {
    const asked = this.#ready;
    if (asked.length === 0 || this.#filling !== null) return;
    let living: ReadonlySet<string>;
    try {
      living = await this.#options.living();
    } catch {
      return; // a launcher that fails is told by whoever needs it
    }
    this.#lose(asked.filter((id) => !living.has(id)));
  }

  /** Of these, those that still wait. */
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
    this.#lost = this.#lost.filter((id) => !lost.includes(id)); // others may have come meanwhile
  }

  async #discard(id: string): Promise<void> {
    await this.#options.remove(id).catch((error: unknown) => {
      this.#options.log.error({ err: error, sandbox: id }, 'a prepared start could not be removed');
    });
  }
}
