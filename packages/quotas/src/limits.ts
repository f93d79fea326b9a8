import type { Limit, Quota, QuotaScope } from './quota.ts';

/** The limits of one workspace and of its owner at one moment. */
export interface Limits {
  readonly workspaceUuid: string;
  /** Null for a workspace that no longer exists. */
  readonly ownerId: string | null;
  /** Every workspace of the owner, this one included, sorted: what the owner's limits are a sum over. */
  readonly ownerWorkspaces: readonly string[];
  /** By name of the quota. A quota that is missing is unlimited. */
  readonly workspace: Readonly<Record<string, Limit>>;
  readonly owner: Readonly<Record<string, Limit>>;
}

/** Port to the limits that hold now. Answers are at most one second old, so a change takes effect on every replica. */
export interface QuotaLimits {
  limitsOf(workspaceUuid: string): Promise<Limits>;
  /**
   * Whose share of the platform the workspace takes part in where work waits: its owner's, as last read by `limitsOf`, or
   * one of its own while that is unknown. Workspaces of one owner together get the turns of one.
   */
  shareOf(this: void, workspaceUuid: string): string;
}

/** The limit of a quota in one scope; null when unlimited. */
export function limitIn(limits: Limits, scope: QuotaScope, quota: Quota): Limit {
  return limits[scope][quota.name] ?? null;
}

/** Whether anything is limited in this scope. Counting can be left out where nothing is. */
export function isLimited(limits: Limits, scope: QuotaScope, quotas: readonly Quota[]): boolean {
  return quotas.some((quota) => limitIn(limits, scope, quota) !== null);
}

/** Limits nothing: for tests and for modules that run alone. */
export const unlimitedQuotas: QuotaLimits = {
  limitsOf: async (workspaceUuid) => ({
    workspaceUuid,
    ownerId: null,
    ownerWorkspaces: [workspaceUuid],
    workspace: {},
    owner: {},
  }),
  shareOf: (workspaceUuid) => workspaceUuid,
};
