import type { HelperConnection } from './helper/helper-connection.ts';
import type { SandboxSpec } from './driver.ts';

/** Pool size for one image. */
export interface WarmPlan {
  /** Catalog name, not an alias. */
  readonly image: string;
  readonly min: number;
  readonly max: number;
}

/** A running sandbox without an owner. It keeps its id, and its name unless the new owner sets one. */
export interface WarmSandbox {
  readonly spec: SandboxSpec;
  readonly name: string;
  readonly connection: HelperConnection;
  /** Version of its image; outdated sandboxes are not handed out. */
  readonly version: string;
}

export interface ImagePoolFigures {
  readonly image: string;
  readonly ready: number;
  readonly target: number;
  readonly hits: number;
  readonly misses: number;
}

/** The last ten seconds make up about two thirds of the rate. */
const RATE_WEIGHT_PER_SECOND = 0.1;
const INITIAL_FILL_SECONDS = 0.1;

/** The warm sandboxes of one image, oldest first, and their target number. */
export class ImagePool {
  readonly plan: WarmPlan;
  #ready: WarmSandbox[] = [];
  #requests = 0;
  #hits = 0;
  #misses = 0;
  #perSecond = 0;
  #fillSeconds = INITIAL_FILL_SECONDS;
  #isUsable = true;
  /** Earliest next fill after a failure. */
  #retryAtMs = 0;
  #failures = 0;

  constructor(plan: WarmPlan) {
    this.plan = plan;
  }

  /** Takes the oldest sandbox that the predicate accepts. Counts as demand either way. */
  take(accepts: (warm: WarmSandbox) => boolean): WarmSandbox | null {
    this.#requests += 1;
    const found = this.#ready.find((warm) => !warm.connection.lost && accepts(warm)) ?? null;
    if (found === null) {
      this.#misses += 1;
      return null;
    }
    this.#hits += 1;
    this.remove(found);
    return found;
  }

  put(warm: WarmSandbox): void {
    this.#ready.push(warm);
  }

  /** Returns false if it was not in the pool. */
  remove(warm: WarmSandbox): boolean {
    const before = this.#ready.length;
    this.#ready = this.#ready.filter((each) => each !== warm);
    return this.#ready.length < before;
  }

  all(): readonly WarmSandbox[] {
    return this.#ready;
  }

  /** Called every second: follows a rising rate at once and a falling rate slowly. */
  tick(isUsable: boolean): void {
    this.#isUsable = isUsable;
    const weight = this.#requests > this.#perSecond ? 1 : RATE_WEIGHT_PER_SECOND;
    this.#perSecond += (this.#requests - this.#perSecond) * weight;
    this.#requests = 0;
  }

  filled(seconds: number): void {
    this.#fillSeconds += (seconds - this.#fillSeconds) * 0.2;
    this.#failures = 0;
  }

  failed(nowMs: number): void {
    this.#failures = Math.min(this.#failures + 1, 10);
    this.#retryAtMs = nowMs + 100 * 2 ** this.#failures;
  }

  /** Twice the demand during one fill, plus a margin for fluctuation. */
  get target(): number {
    if (!this.#isUsable) return 0;
    const demand = 2 * Math.max(this.#perSecond, this.#requests) * this.#fillSeconds;
    return Math.min(this.plan.max, this.plan.min + Math.ceil(demand + Math.sqrt(demand)));
  }

  needsMore(nowMs: number): boolean {
    return this.#ready.length < this.target && nowMs >= this.#retryAtMs;
  }

  figures(): ImagePoolFigures {
    const { target } = this;
    return { image: this.plan.image, ready: this.#ready.length, target, hits: this.#hits, misses: this.#misses };
  }
}
