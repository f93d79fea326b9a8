import type { Logger } from '@svc/telemetry';
import type { PreparedFigures, PreparedStarts, SandboxSpec } from '../driver.ts';

/** After a start its own first prompt goes first. */
const REFILL_DELAY_MS = 50;
const FIRST_REST_MS = 1000;
const MAX_REST_MS = 60_000;

/** How often it is asked whether what waits still lives: nobody else would notice the end of one. */
const LOOK_INTERVAL_MS = 5000;
/** Of what was taken before its launcher ended. */
const NO_LAUNCHER = 0;

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
  /** Another number after the launcher, which holds them, was replaced. */
  readonly launcher: () => number;
  readonly log: Logger;
}

interface Prepared {
  readonly id: string;
  readonly launcher: number;
}

/** Makes prepared starts again as they are used, one after the other, while nobody waits for a start. */
export class LocalPreparedStarts implements PreparedStarts {
  readonly #options: LocalPreparedStartsOptions;
  #ready: Prepared[] = [];
  /** Those that ended with their launcher, whose folder, group and slot are still there. */
  #lost: Prepared[] = [];
  readonly #taken = new Map<string, number>();
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
    const found = this.#serves(wish) ? this.#usable()[0] : undefined;
    if (found === undefined) {
      this.#misses += 1;
      return null;
    }
    this.#hits += 1;
    this.#ready = this.#ready.filter((each) => each !== found);
    this.#taken.set(found.id, found.launcher);
    this.#refill();
    return found.id;
  }

  giveBack(id: string): void {
    const launcher = this.#taken.get(id);
    this.#taken.delete(id);
    if (launcher === undefined) return;
    if (this.#closed) void this.#discard(id);
    else this.#ready.push({ id, launcher });
    if (launcher === NO_LAUNCHER) this.#refill();
  }

  /** It is gone, with whatever it was taken for. */
  forget(id: string): void {
    this.#taken.delete(id);
  }

  /** What waits ended with it: the next launcher removes what is left of them, and new ones are made. */
  launcherEnded(): void {
    this.#lost.push(...this.#ready.splice(0));
    for (const id of this.#taken.keys()) this.#taken.set(id, NO_LAUNCHER);
    this.#refill();
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
    return id === this.#making || [...this.#ready, ...this.#lost].some((each) => each.id === id);
  }

  figures(): PreparedFigures {
    const ready = this.#usable().length;
    return { ready, target: this.#options.count, hits: this.#hits, misses: this.#misses };
  }

  /** Removes what waits. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#looking !== null) clearInterval(this.#looking);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#filling;
    for (const { id } of [...this.#ready.splice(0), ...this.#lost.splice(0)]) await this.#discard(id);
  }

  #serves(wish: Omit<SandboxSpec, 'id' | 'hostname'>): boolean {
    const { kind } = this.#options;
    return (
      wish.isolation === 'default' &&
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
    return !this.#closed && this.#startsUnderWay === 0 && this.#usable().length < this.#options.count;
  }

  /** Those that the launcher of now has; it may be replaced at any call. */
  #usable(): readonly Prepared[] {
    const launcher = this.#options.launcher();
    return this.#ready.filter((each) => each.launcher === launcher);
  }

  async #fill(): Promise<void> {
    const { newId, prepare, launcher, log } = this.#options;
    await this.#removeLost();
    while (this.#wantsMore) {
      const id = newId();
      this.#making = id;
      try {
        await prepare(id);
        this.#ready.push({ id, launcher: launcher() });
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
    const ended = this.#ready.filter((each) => asked.includes(each) && !living.has(each.id));
    if (ended.length === 0 || this.#closed) return;
    this.#lost.push(...ended);
    this.#ready = this.#ready.filter((each) => !ended.includes(each));
    this.#refill();
  }

  /** Also those of which another launcher is known before its end is told. */
  async #removeLost(): Promise<void> {
    const usable = this.#usable();
    const lost = [...this.#lost, ...this.#ready.filter((each) => !usable.includes(each))];
    this.#ready = [...usable];
    this.#lost = lost;
    for (const { id } of lost) await this.#discard(id);
    this.#lost = this.#lost.filter((each) => !lost.includes(each)); // others may have come meanwhile
  }

  async #discard(id: string): Promise<void> {
    await this.#options.remove(id).catch((error: unknown) => {
      this.#options.log.error({ err: error, sandbox: id }, 'a prepared start could not be removed');
    });
  }
}
