import type { Usage } from './breach.ts';
import type { Limits } from './limits.ts';
import type { Quota, QuotaScope } from './quota.ts';

/** Returns the usage of the workspace and the sum over all workspaces of its owner. */
export function scopeUsage(
  { workspaceUuid }: Limits,
  byWorkspace: ReadonlyMap<string, Usage>,
): Record<QuotaScope, Usage> {
  return { workspace: byWorkspace.get(workspaceUuid) ?? {}, owner: sumUsage(byWorkspace.values()) };
}

/** Returns zero usage for each quota. */
export function zeroUsage(quotas: Readonly<Record<string, Quota>>): Usage {
  return Object.fromEntries(Object.values(quotas).map(({ name }) => [name, 0]));
}

/** Adds up the amounts of every quota. */
export function sumUsage(usages: Iterable<Usage>): Usage {
  const sum: Record<string, number> = {};
  for (const usage of usages) {
    for (const [name, amount] of Object.entries(usage)) sum[name] = (sum[name] ?? 0) + amount;
  }
  return sum;
}
