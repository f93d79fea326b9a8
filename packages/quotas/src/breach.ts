import { limitIn, type Limits } from './limits.ts';
import { QUOTA_SCOPES, type Quota, type QuotaScope, type QuotaUnit } from './quota.ts';

/** Amounts by name of the quota. */
export type Usage = Readonly<Record<string, number>>;

/** What a request would add. An amount of zero or less always fits: what is over its limit may shrink. */
export type Demand = readonly (readonly [quota: Quota, amount: number])[];

/** A limit that a demand would pass. */
export interface Breach {
  readonly quota: Quota;
  readonly scope: QuotaScope;
  readonly limit: number;
  /** Without the demand. */
  readonly used: number;
  readonly wanted: number;
}

/** The first limit that the demand would pass, the workspace's before the owner's; null when it fits. */
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

/** Message template of a module's QUOTA_EXCEEDED; `breachDetails` fills it. */
export const QUOTA_EXCEEDED_MESSAGE =
  'The {scope} quota {quota} is exceeded: {current} of {limit} {unit} used, {requested} requested. An operator can raise it: svc admin quota set {quota} VALUE {flag}';

export interface BreachDetails extends Record<string, unknown> {
  readonly quota: string;
  readonly scope: QuotaScope;
  readonly unit: string;
  readonly limit: number;
  readonly current: number;
  readonly requested: number;
  readonly raised_by: 'operator';
}

/** The details of a QUOTA_EXCEEDED. */
export function breachDetails({ quota, scope, limit, used, wanted }: Breach): BreachDetails {
  return {
    quota: quota.name,
    scope,
    unit: unitWord(quota.unit),
    limit,
    current: used,
    requested: wanted,
    raised_by: 'operator',
    flag: scope === 'workspace' ? '--workspace UUID' : '--owner EMAIL',
  };
}

/** The unit as it stands behind a number. */
export function unitWord(unit: QuotaUnit): string {
  const words: Readonly<Record<QuotaUnit, string>> = {
    count: 'in total',
    cpus: 'CPUs',
    mib: 'MiB',
    bytes: 'bytes',
    per_second: 'per second',
    per_minute: 'per minute',
  };
  return words[unit];
}
