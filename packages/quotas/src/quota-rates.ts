import { TokenBuckets, type TokenBucket, type TokenRate } from '@svc/runtime';
import { limitIn, type Limits } from './limits.ts';
import type { Quota, QuotaScope } from './quota.ts';

/** A rate that is used up. */
export interface RateRefusal {
  readonly quota: string;
  readonly scope: QuotaScope;
  readonly limit: number;
  /** At least one. */
  readonly retryAfterSeconds: number;
}

/** Maximum workspaces and owners with tracked rates. Evicting the least recently used only resets its count. */
const MAX_RATES = 50_000;
/** A limit of 0 never refills. */
const MAX_RETRY_SECONDS = 60;

/** Counts what workspaces and their owners do against quotas of rates (`per_second`, `per_minute`) in this process. */
export class QuotaRates {
  readonly #nowMs: () => number;
  readonly #buckets: TokenBuckets;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#buckets = new TokenBuckets({ perMinute: 0, burst: 0 }, { nowMs, maxKeys: MAX_RATES });
  }

  /** Counts one. `suffix`: what has a rate of its own, for each workspace and owner. */
  take(quota: Quota, held: Limits, suffix = ''): RateRefusal | null {
    const asked: TokenBucket[] = [];
    for (const { scope, key } of quotaHolders(held)) {
      const limit = limitIn(held, scope, quota);
      if (limit === null) continue;
      const bucket = this.#buckets.bucket(`${quota.name} ${key}${suffix}`, createRate(quota, limit));
      const waitMs = bucket.waitMs(this.#nowMs());
      if (waitMs > 0) {
        const retryAfterSeconds = Math.min(MAX_RETRY_SECONDS, Math.ceil(waitMs / 1_000));
        return { quota: quota.name, scope, limit, retryAfterSeconds };
      }
      asked.push(bucket);
    }
    // Take tokens last, so that a refusal by the owner's limit does not count against the workspace.
    for (const bucket of asked) bucket.take(this.#nowMs());
    return null;
  }
}

/** Whose limits apply to a workspace, with keys for counts. */
export function quotaHolders({ workspaceUuid, ownerId }: Limits): { scope: QuotaScope; key: string }[] {
  const workspace = { scope: 'workspace', key: workspaceUuid } as const;
  return ownerId === null ? [workspace] : [workspace, { scope: 'owner', key: `owner ${ownerId}` }];
}

/** The burst is what the unit's time allows, at least one. A limit of 0 admits none. */
function createRate({ unit }: Quota, limit: number): TokenRate {
  return { perMinute: unit === 'per_second' ? limit * 60 : limit, burst: limit === 0 ? 0 : Math.max(1, limit) };
}
