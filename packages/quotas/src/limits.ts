import type { Limit, Quota, QuotaScope } from './quota.ts';

/** A snapshot of the limits of a workspace and its owner. */
export interface Limits {
  readonly workspaceUuid: string;
  /** Null if the workspace no longer exists. */
  readonly ownerId: string | null;
  /** Every workspace of the owner, including this one, sorted; the owner's limits apply to their sum. */
  readonly ownerWorkspaces: readonly string[];
  /** Whether nobody else owns a workspace in this installation. Missing: others may. */
  readonly isOnlyOwner?: boolean;
  /** By quota name. Missing quotas are unlimited. */
  readonly workspace: Readonly<Record<string, Limit>>;
  readonly owner: Readonly<Record<string, Limit>>;
}

/** Port to the current limits. Results are at most one second old, so a change takes effect on every replica. */
export interface QuotaLimits {
  readLimits(workspaceUuid: string): Promise<Limits>;
  /**
   * Returns the fair-queueing group of a workspace: its owner, as last read by `readLimits`, or a group of its own while
   * the owner is unknown. All workspaces of an owner share one turn.
   */
  shareOf(this: void, workspaceUuid: string): string;
}

/** Returns the limit of a quota in one scope; null if unlimited. */
export function limitIn(limits: Limits, scope: QuotaScope, quota: Quota): Limit {
  return limits[scope][quota.name] ?? null;
}

/** Whether any of the quotas is limited in this scope. If not, counting can be skipped. */
export function isLimited(limits: Limits, scope: QuotaScope, quotas: readonly Quota[]): boolean {
  return quotas.some((quota) => limitIn(limits, scope, quota) !== null);
}

/** No limits; for tests and modules that run alone. */
export const unlimitedQuotas: QuotaLimits = {
  readLimits: async (workspaceUuid) => ({
    workspaceUuid,
    ownerId: null,
    ownerWorkspaces: [workspaceUuid],
    isOnlyOwner: true,
    workspace: {},
    owner: {},
  }),
  shareOf: (workspaceUuid) => workspaceUuid,
};
