import type { Limitation } from '@svc/protocol';

/** Further limitations are summarized in one line: readers do not need two hundred refusals. */
const MAX_TOLD = 32;
const MAX_FEATURE_CHARACTERS = 200;
const MAX_REASON_CHARACTERS = 500;

/** The part of the agent that does less than it should; `none` if the configuration asked for no more. */
export type LimitedPart = 'kubernetes' | 'tunnel' | 'none';

/** What the agent cannot do and why: a missing right, or a limit of its own. Reported with the cluster's status. */
export class Limitations {
  readonly #reasons = new Map<string, { reason: string; part: LimitedPart }>();
  #version = 0;

  /** Increases with each change, so that a reporter knows when to report again. */
  get version(): number {
    return this.#version;
  }

  set(feature: string, reason: string, part: LimitedPart = 'kubernetes'): void {
    const short = reason.slice(0, MAX_REASON_CHARACTERS);
    if (this.#reasons.get(feature)?.reason === short) return;
    this.#reasons.set(feature, { reason: short, part });
    this.#version += 1;
  }

  /** True if this part works with limitations. */
  degrades(part: LimitedPart): boolean {
    return this.#reasons.values().some((each) => each.part === part);
  }

  clear(feature: string): void {
    if (this.#reasons.delete(feature)) this.#version += 1;
  }

  list(): Limitation[] {
    const all = [...this.#reasons].map(([feature, { reason }]) => ({
      feature: feature.slice(0, MAX_FEATURE_CHARACTERS),
      reason,
    }));
    if (all.length <= MAX_TOLD) return all;
    const told = all.slice(0, MAX_TOLD - 1);
    return [...told, { feature: 'more', reason: `${all.length - told.length} further features are limited` }];
  }
}
