import { breachDetails, type Quota } from '@svc/quotas';
import { accountErrors } from '../../errors.ts';
import type { CachedQuotaLimits } from './quota-limits.ts';

const REMEDIES: Readonly<Record<string, string>> = {
  workspaces: 'delete a workspace, or ask the operator to raise it (svc admin quota set)',
  teams: 'delete a team, or ask the operator to raise it (svc admin quota set)',
  invited_accounts: 'ask the operator to raise it (svc admin quota set)',
};

/** Throws QUOTA_EXCEEDED if `used` leaves no room for one more. */
export type AssertRoom = (used: number) => void;

/** Reads a user's limit before a transaction; the usage is counted inside it, under the lock of that user's row. */
export type OwnerRoom = (quota: Quota, userId: string) => Promise<AssertRoom>;

export function createOwnerRoom(limits: Pick<CachedQuotaLimits, 'limitsIn'>): OwnerRoom {
  return async (quota, userId) => {
    const limit = (await limits.limitsIn('owner', userId))[quota.name] ?? null;
    return (used) => {
      if (limit === null || used < limit) return;
      const details = breachDetails({ quota, scope: 'owner', limit, used, wanted: 1 });
      throw accountErrors.QUOTA_EXCEEDED({ details: { ...details, remedy: REMEDIES[quota.name] ?? details.remedy } });
    };
  };
}
