import { limitIn, type Limits } from './limits.ts';
import { QUOTA_SCOPES, type Quota, type QuotaScope, type QuotaUnit } from './quota.ts';

/** Amounts by quota name. */
export type Usage = Readonly<Record<string, number>>;

/** The amounts a request would add. Zero or less always fits: usage above a limit may shrink. */
export type Demand = readonly (readonly [quota: Quota, amount: number])[];

/** A limit that a demand would exceed. */
export interface Breach {
  readonly quota: Quota;
  readonly scope: QuotaScope;
  readonly limit: number;
  /** Current usage, without the demand. */
  readonly used: number;
  readonly wanted: number;
}

/** Returns the first limit that the demand would exceed, the workspace's before the owner's; null if it fits. */
export function findBreach(limits: Limits, demand: Demand, used: Readonly<Record<QuotaScope, Usage>>): Breach | null {
  for (const scope of QUOTA_SCOPES) {
    for (const [quota, wanted] of demand) {
      const limit = limitIn(limits, scope, quota);
      const current = used[scope][quota.name] ?? 0;
      if (limit !== null && wanted > 0 && current + wanted > limit) {
        return { quota, scope, limit, used: current, wanted };
      }
    }
  }
  return null;
}

/** Message template of a module's QUOTA_EXCEEDED; fill it with `breachDetails`. */
export const QUOTA_EXCEEDED_MESSAGE =
  'The {scope} quota {quota} is exceeded: {current} used, {requested} requested, limit {limit}; {remedy}';

/** Details of a QUOTA_EXCEEDED error. */
export interface BreachDetails extends Record<string, unknown> {
  readonly quota: string;
  readonly scope: QuotaScope;
  readonly unit: QuotaUnit;
  readonly limit: number;
  readonly current: number;
  readonly requested: number;
  /** Who can raise the limit, and how. */
  readonly remedy: string;
}

/** Returns the details of a QUOTA_EXCEEDED. */
export function breachDetails({ quota, scope, limit, used, wanted }: Breach): BreachDetails {
  return {
    quota: quota.name,
    scope,
    unit: quota.unit,
    limit,
    current: used,
    requested: wanted,
    remedy: 'delete something, or ask the operator to raise it (svc admin quota set)',
  };
}
