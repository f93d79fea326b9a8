import type { Limit, Limits, QuotaLimits, QuotaScope } from '@svc/quotas';
import { type Clock, RecentMap } from '@svc/runtime';
import type { AccountStores } from '../stores.ts';

type LimitSet = Readonly<Record<string, Limit>>;

/** Limits that apply unless the operator sets others. */
export type DefaultLimits = Readonly<Record<QuotaScope, LimitSet>>;

interface WorkspaceEntry {
  readonly ownerId: string | null;
  readonly limits: LimitSet;
}

interface OwnerEntry {
  readonly workspaces: readonly string[];
  readonly isOnlyOwner: boolean;
  readonly limits: LimitSet;
}

interface Loaded<Entry> {
  readonly entry: Promise<Entry>;
  readonly loadedAtMs: number;
}

/** How long a change by another process may go unnoticed. */
const MAX_AGE_MS = 900;
const MAX_ENTRIES = 10_000;

/**
 * Caches the limits of workspaces and owners, bounded in age and number. A change made in this process takes effect at
 * once.
 */
export class CachedQuotaLimits implements QuotaLimits {
  readonly #stores: Pick<AccountStores, 'workspaces' | 'quotaOverrides'>;
  readonly #clock: Clock;
  readonly #defaults: DefaultLimits;
  #workspaces = new RecentMap<Loaded<WorkspaceEntry>>(MAX_ENTRIES);
  #owners = new RecentMap<Loaded<OwnerEntry>>(MAX_ENTRIES);
  /** Owners as last read; ownership rarely changes, so entries do not expire. */
  readonly #shares = new RecentMap<string>(MAX_ENTRIES);

  constructor(stores: Pick<AccountStores, 'workspaces' | 'quotaOverrides'>, clock: Clock, defaults: DefaultLimits) {
    this.#stores = stores;
    this.#clock = clock;
    this.#defaults = defaults;
  }

  async readLimits(workspaceUuid: string): Promise<Limits> {
    const { ownerId, limits } = await this.#cached(this.#workspaces, workspaceUuid, () =>
      this.#loadWorkspace(workspaceUuid),
    );
    if (ownerId === null) {
      return { workspaceUuid, ownerId, ownerWorkspaces: [workspaceUuid], workspace: limits, owner: {} };
    }
    this.#shares.set(workspaceUuid, ownerId);
    const owner = await this.#ownerWith(ownerId, workspaceUuid);
    const { workspaces: ownerWorkspaces, isOnlyOwner } = owner;
    return { workspaceUuid, ownerId, ownerWorkspaces, isOnlyOwner, workspace: limits, owner: owner.limits };
  }

  readonly shareOf = (workspaceUuid: string): string => this.#shares.get(workspaceUuid) ?? workspaceUuid;

  /** The current limits in one scope. */
  async limitsIn(scope: QuotaScope, subject: string): Promise<LimitSet> {
    const overrides = await this.#stores.quotaOverrides.ofSubject(scope, subject);
    return {
      ...this.#defaults[scope],
      ...Object.fromEntries(overrides.map(({ quota, amount }) => [quota, amount])),
    };
  }

  /** Call after the operator changes a limit. */
  forgetAll(): void {
    this.#workspaces = new RecentMap(MAX_ENTRIES);
    this.#owners = new RecentMap(MAX_ENTRIES);
  }

  /** Reloads the owner if its cached entry predates this workspace. */
  async #ownerWith(ownerId: string, workspaceUuid: string): Promise<OwnerEntry> {
    const load = () => this.#loadOwner(ownerId);
    const known = await this.#cached(this.#owners, ownerId, load);
    if (known.workspaces.includes(workspaceUuid)) return known;
    this.#owners.delete(ownerId);
    return this.#cached(this.#owners, ownerId, load);
  }

  async #loadWorkspace(uuid: string): Promise<WorkspaceEntry> {
    const workspace = await this.#stores.workspaces.byUuid(uuid);
    return { ownerId: workspace?.ownerId ?? null, limits: await this.limitsIn('workspace', uuid) };
  }

  async #loadOwner(ownerId: string): Promise<OwnerEntry> {
    const workspaces = await this.#stores.workspaces.uuidsOwnedBy(ownerId);
    const isOnlyOwner = !(await this.#stores.workspaces.isAnyOwnedByOthers(ownerId));
    return { workspaces, isOnlyOwner, limits: await this.limitsIn('owner', ownerId) };
  }

  #cached<Entry>(map: RecentMap<Loaded<Entry>>, key: string, load: () => Promise<Entry>): Promise<Entry> {
    const nowMs = this.#clock.nowMs();
    const known = map.get(key);
    if (known !== undefined && nowMs - known.loadedAtMs < MAX_AGE_MS) return known.entry;
    const entry = load();
    const loaded = { entry, loadedAtMs: nowMs };
    map.set(key, loaded);
    // Forget a failed load, so that the next caller retries; this caller gets the error through `entry`.
    entry.catch(() => {
      if (map.get(key) === loaded) map.delete(key);
    });
    return entry;
  }
}
