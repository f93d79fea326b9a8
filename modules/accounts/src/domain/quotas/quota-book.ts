import type { Limit, Quota, QuotaScope, Usage } from '@svc/quotas';
import type { Clock } from '@svc/runtime';
import { timestamp } from '../timestamps.ts';
import { accountErrors } from '../../errors.ts';
import type { QuotaOverride } from '../records.ts';
import type { AccountDatabase, AccountStores } from '../stores.ts';
import { normalizeEmail } from '../users/email.ts';
import { accountUsage, type QuotaSource } from './account-quotas.ts';
import type { CachedQuotaLimits } from './quota-limits.ts';

/** One quota of one workspace or owner. */
export interface QuotaState {
  readonly quota: Quota;
  readonly limit: Limit;
  /** Null for quotas without a count, such as rates. */
  readonly used: number | null;
}

export interface QuotaSubject {
  readonly scope: QuotaScope;
  /** The workspace's UUID or the owner's user id. */
  readonly subject: string;
}

const MAX_OVERRIDES_LISTED = 10_000;

/** Usage of each quota, and the limits that the operator sets. */
export class QuotaBook {
  readonly #database: AccountDatabase;
  readonly #clock: Clock;
  readonly #source: QuotaSource;
  readonly #limits: CachedQuotaLimits;

  constructor(database: AccountDatabase, clock: Clock, source: QuotaSource, limits: CachedQuotaLimits) {
    this.#database = database;
    this.#clock = clock;
    this.#source = source;
    this.#limits = limits;
  }

  /** For an owner, returns sums over all workspaces. Throws WORKSPACE_NOT_FOUND, USER_NOT_FOUND. */
  async ofSubject({ scope, subject }: QuotaSubject): Promise<readonly QuotaState[]> {
    await assertKnown(this.#database, { scope, subject });
    const workspaces = scope === 'workspace' ? [subject] : await this.#database.workspaces.uuidsOwnedBy(subject);
    const limits = await this.#limits.limitsIn(scope, subject);
    const owned = scope === 'owner' ? await accountUsage(this.#database, subject) : {};
    const used: Usage = { ...(await this.#source.usage(workspaces)), ...owned };
    return this.#source.catalogue.all.filter(appliesIn(scope)).map((quota) => ({
      quota,
      limit: limits[quota.name] ?? null,
      used: used[quota.name] ?? null,
    }));
  }

  list(): Promise<QuotaOverride[]> {
    return this.#database.quotaOverrides.list(MAX_OVERRIDES_LISTED);
  }

  /** Throws UNKNOWN_QUOTA, WORKSPACE_NOT_FOUND, USER_NOT_FOUND. */
  async set({ scope, subject }: QuotaSubject, name: string, amount: Limit): Promise<QuotaOverride> {
    const quota = this.#find(name, scope);
    const updatedAt = timestamp(this.#clock.now());
    const override = { scope, subject, quota: quota.name, amount, updatedAt };
    await this.#database.transact(async (stores) => {
      await assertKnown(stores, { scope, subject });
      await stores.quotaOverrides.put(override);
    });
    this.#limits.forgetAll();
    return override;
  }

  /** Restores the default. Throws UNKNOWN_QUOTA, QUOTA_NOT_SET. */
  async unset({ scope, subject }: QuotaSubject, name: string): Promise<void> {
    const quota = this.#find(name, scope);
    const removed = await this.#database.quotaOverrides.delete(scope, subject, quota.name);
    if (!removed) throw accountErrors.QUOTA_NOT_SET({ details: { quota: quota.name, scope } });
    this.#limits.forgetAll();
  }

  /** Resolves a workspace by UUID, an owner by e-mail or id. Throws USER_NOT_FOUND. */
  async resolve(scope: QuotaScope, named: string): Promise<QuotaSubject> {
    if (scope === 'workspace') return { scope, subject: named };
    const email = normalizeEmail(named);
    const user = email === undefined ? undefined : await this.#database.users.byEmail(email);
    return { scope, subject: user?.id ?? named };
  }

  #find(name: string, scope: QuotaScope): Quota {
    const all = this.#source.catalogue.all.filter(appliesIn(scope));
    const quota = all.find((each) => each.name === name);
    if (quota !== undefined) return quota;
    const known = all.map((each) => each.name);
    throw accountErrors.UNKNOWN_QUOTA({ details: { field: 'quota', quota: name, known } });
  }
}

function appliesIn(scope: QuotaScope): (quota: Quota) => boolean {
  return ({ only }) => only === undefined || only === scope;
}

async function assertKnown(stores: AccountStores, { scope, subject }: QuotaSubject): Promise<void> {
  if (scope === 'workspace') {
    if ((await stores.workspaces.byUuid(subject)) === undefined) throw accountErrors.WORKSPACE_NOT_FOUND();
    return;
  }
  if ((await stores.users.byId(subject)) === undefined) throw accountErrors.USER_NOT_FOUND();
}
