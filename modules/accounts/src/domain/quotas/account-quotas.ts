import {
  createQuotaCatalogue,
  defaultLimits,
  defineQuotas,
  type QuotaCatalogue,
  type QuotaScope,
  type Usage,
} from '@svc/quotas';
import type { AccountsConfig } from '../../config.ts';
import type { AccountStores } from '../stores.ts';
import type { DefaultLimits } from './quota-limits.ts';

/** Quotas on what one user may own. Each further workspace or account would add another set of limits. */
export const accountQuotas = defineQuotas({
  workspaces: {
    title: 'Workspaces',
    unit: 'count',
    description: 'Workspaces owned by a user',
    only: 'owner',
    workspace: 'unlimited',
    owner: 'auto',
    auto: 'accounts.limits.workspaces_per_owner',
  },
  teams: {
    title: 'Teams',
    unit: 'count',
    description: 'Teams owned by a user',
    only: 'owner',
    workspace: 'unlimited',
    owner: 'auto',
    auto: 'accounts.limits.teams_per_owner',
  },
  invited_accounts: {
    title: 'Invited accounts',
    unit: 'count',
    description: "Accounts created by invitations to a user's teams, and in turn by invitations from those accounts",
    only: 'owner',
    workspace: 'unlimited',
    owner: 100,
  },
});

/** What a user owns now. */
export async function accountUsage(
  stores: Pick<AccountStores, 'workspaces' | 'teams' | 'users'>,
  userId: string,
): Promise<Record<keyof typeof accountQuotas, number>> {
  return {
    workspaces: await stores.workspaces.countOwnedBy(userId),
    teams: await stores.teams.countOwnedBy(userId),
    invited_accounts: await stores.users.countSponsoredBy(userId),
  };
}

/** Quota source for a module that runs without the others. */
export function ownQuotaSource({ limits }: AccountsConfig): QuotaSource {
  const catalogue = createQuotaCatalogue([accountQuotas]);
  const automatic: Readonly<Record<string, number>> = {
    [accountQuotas.workspaces.name]: limits.workspaces_per_owner,
    [accountQuotas.teams.name]: limits.teams_per_owner,
  };
  const none: Record<QuotaScope, Record<string, number>> = { workspace: {}, owner: {} };
  const defaults = defaultLimits(catalogue, none, ({ name }) => automatic[name] ?? null);
  return { catalogue, defaults, usage: async () => ({}) };
}

/** The platform's quota declarations, defaults, and the usage that modules report. */
export interface QuotaSource {
  readonly catalogue: QuotaCatalogue;
  readonly defaults: DefaultLimits;
  /** Sums over the workspaces by quota name; unmeasured quotas are absent. */
  usage(workspaceUuids: readonly string[]): Promise<Usage>;
}
