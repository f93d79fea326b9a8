import type { Limit, Limits, QuotaLimits, QuotaScope } from '@svc/quotas';
import type { Effects } from '../effects.ts';
import { RecentMap } from '@svc/runtime';
import type { AccountStores } from '../stores.ts';

type LimitSet = Readonly<Record<string, Limit>>;

/** The limits that hold where the operator set none. */
export type DefaultLimits = Readonly<Record<QuotaScope, LimitSet>>;

interface WorkspaceEntry {
  readonly ownerId: string | null;
  readonly limits: LimitSet;
}

interface OwnerEntry {
  readonly workspaces: readonly string[];
  readonly limits: LimitSet;
}

interface Loaded<Entry> {
  readonly entry: Promise<Entry>;
  readonly loadedAtMs: number;
}

/** How long a change made by another process can go unseen. */
const MAX_AGE_MS = 900;
const MAX_ENTRIES = 10_000;

/** The limits of workspaces and owners, with bounded age and number. A change made here takes effect at once. */
export class CachedQuotaLimits implements QuotaLimits {
  readonly #stores: Pick<AccountStores, 'workspaces' | 'quotaOverrides'>;
  readonly #effects: Effects;
  readonly #defaults: DefaultLimits;
  #workspaces = new RecentMap<Loaded<WorkspaceEntry>>(MAX_ENTRIES);
  #owners = new RecentMap<Loaded<OwnerEntry>>(MAX_ENTRIES);
  /** Owners as last read; they hardly ever change, so no age bounds them. */
  readonly #shares = new RecentMap<string>(MAX_ENTRIES);

  constructor(stores: Pick<AccountStores, 'workspaces' | 'quotaOverrides'>, effects: Effects, defaults: DefaultLimits) {
    this.#stores = stores;
    this.#effects = effects;
    this.#defaults = defaults;
  }

  async limitsOf(workspaceUuid: string): Promise<Limits> {
    const { ownerId, limits } = await this.#cached(this.#workspaces, workspaceUuid, () =>
      this.#loadWorkspace(workspaceUuid),
    );
    if (ownerId === null) {
      return { workspaceUuid, ownerId, ownerWorkspaces: [workspaceUuid], workspace: limits, owner: {} };
    }
    this.#shares.set(workspaceUuid, ownerId);
    const owner = await this.#ownerWith(ownerId, workspaceUuid);
    return { workspaceUuid, ownerId, ownerWorkspaces: owner.workspaces, workspace: limits, owner: owner.limits };
  }

  readonly shareOf = (workspaceUuid: string): string => this.#shares.get(workspaceUuid) ?? workspaceUuid;

  /** The limits in one scope, as they stand now. */
  async limitsIn(scope: QuotaScope, subject: string): Promise<LimitSet> {
    const overrides = await this.#stores.quotaOverrides.ofSubject(scope, subject);
    return {
      ...this.#defaults[scope],
      ...Object.fromEntries(overrides.map(({ quota, amount }) => [quota, amount])),
    };
  }

  /** After the operator changed something. */
  forgetAll(): void {
    this.#workspaces = new RecentMap(MAX_ENTRIES);
    this.#owners = new RecentMap(MAX_ENTRIES);
  }

  /** A workspace made since the owner was loaded counts from its first use. */
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
    return { workspaces, limits: await this.limitsIn('owner', ownerId) };
  }

  #cached<Entry>(map: RecentMap<Loaded<Entry>>, key: string, load: () => Promise<Entry>): Promise<Entry> {
    const nowMs = this.#effects.now().getTime();
    const known = map.get(key);
    if (known !== undefined && nowMs - known.loadedAtMs < MAX_AGE_MS) return known.entry;
    const entry = load();
    const loaded = { entry, loadedAtMs: nowMs };
    map.set(key, loaded);
    // What failed is asked again by the next caller; this one's own error reaches it through `entry`.
    entry.catch(() => {
      if (map.get(key) === loaded) map.delete(key);
    });
    return entry;
  }
}
