import type { QuotasConfig } from './config-schema.ts';
import type { Limit, Quota, QuotaScope } from './quota.ts';

/** Every quota of the product, in display order. */
export interface QuotaCatalogue {
  readonly all: readonly Quota[];
  find(name: string): Quota | undefined;
}

/** Throws if two modules declare the same name. */
export function createQuotaCatalogue(groups: readonly Readonly<Record<string, Quota>>[]): QuotaCatalogue {
  const byName = new Map<string, Quota>();
  for (const quota of groups.flatMap((group) => Object.values(group))) {
    if (byName.has(quota.name)) throw new Error(`the quota ${quota.name} is declared twice`);
    byName.set(quota.name, quota);
  }
  return { all: [...byName.values()], find: (name) => byName.get(name) };
}

/** Returns the limits that apply unless the operator sets others. `auto` computes a quota's limit from the machine. */
export function defaultLimits(
  { all }: QuotaCatalogue,
  config: QuotasConfig,
  auto: (quota: Quota, scope: QuotaScope) => Limit,
): Record<QuotaScope, Record<string, Limit>> {
  const resolve = (quota: Quota, scope: QuotaScope): Limit => {
    const value = config[scope][quota.name] ?? quota[scope];
    if (value === 'unlimited') return null;
    if (value !== 'auto') return value;
    if (quota.auto !== undefined) return auto(quota, scope);
    throw new Error(`quotas.${scope}.${quota.name} cannot be auto`);
  };
  const limitsIn = (scope: QuotaScope) => Object.fromEntries(all.map((quota) => [quota.name, resolve(quota, scope)]));
  return { workspace: limitsIn('workspace'), owner: limitsIn('owner') };
}
