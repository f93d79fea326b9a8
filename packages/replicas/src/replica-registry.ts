import type { AppError } from '@svc/errors';
import { BackgroundLoop, pause, systemClock, type Clock } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import { replicaErrors } from './errors.ts';
import type { Replica, ReplicaClaim, ReplicaStore } from './replica.ts';

const RENEW_EVERY_MS = 2_000;
const CLAIM_AGAIN_AFTER_MS = 500;
/** Longer than a machine stays off for repair: a replica's sandboxes have been marked as lost long before. */
const KEPT_MS = 30 * 24 * 3_600_000;
const PRUNE_EVERY_RENEWALS = 1_800;

/** Dependencies of the registry. */
export interface ReplicaRegistryDeps {
  readonly store: ReplicaStore;
  readonly self: ReplicaClaim;
  /**
   * Called once if another process has taken over the id. The process must end at once without touching shared data:
   * all of it now belongs to the other one.
   */
  readonly onTaken: (error: AppError) => void;
  readonly log: Logger;
  /** Defaults to the clock of the process. Only the wait for an id keeps the process alive. */
  readonly clock?: Pick<Clock, 'setTimer' | 'nowMs'>;
}

/** Readers of `live` share one query for this long. A replica that ended is noticed by its connection first. */
const LIVE_FOR_MS = 1_000;

/** This process among the replicas that share a database: it owns its id while it renews a lease. */
export class ReplicaRegistry {
  readonly #deps: ReplicaRegistryDeps;
  readonly #heartbeat: BackgroundLoop;
  readonly #clock: Pick<Clock, 'setTimer' | 'nowMs'>;
  #url: string | null;
  /** How far the database's clock is ahead of this process's. */
  #aheadMs = 0;
  #live: { readonly replicas: Promise<readonly Replica[]>; readonly untilMs: number } | null = null;
  #liveCount = 1;
  #renewals = 0;
  #isTaken = false;

  constructor(deps: ReplicaRegistryDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#url = deps.self.url;
    this.#heartbeat = new BackgroundLoop({
      run: () => this.#renew(),
      intervalMs: RENEW_EVERY_MS,
      onError: (err) => deps.log.warn({ err }, 'the lease of this replica could not be renewed'),
      ...(deps.clock === undefined ? {} : { clock: deps.clock }),
    });
  }

  /** The id of this replica. */
  get id(): string {
    return this.#deps.self.id;
  }

  /**
   * Takes the id and keeps it until `close`. If another process has it, waits until that lease ends, which takes at
   * most ten seconds after a crash, or throws REPLICA_ID_IN_USE as soon as the other process renews.
   */
  async claim(signal: AbortSignal = new AbortController().signal): Promise<void> {
    const { store, self, log } = this.#deps;
    const clock = this.#clock;
    let owner = await store.claim(self);
    if (owner !== null) log.warn({ replica: self.id }, 'waiting for the lease of an earlier process to end');
    while (owner !== null) {
      await pause(clock, CLAIM_AGAIN_AFTER_MS, signal);
      signal.throwIfAborted();
      const next = await store.claim(self);
      // Only a live process renews.
      if (next !== null && (next.seenAt !== owner.seenAt || next.bootId !== owner.bootId)) {
        throw replicaErrors.REPLICA_ID_IN_USE({ details: { id: self.id, started_at: next.startedAt } });
      }
      owner = next;
    }
    const row = await store.find(self.id);
    if (row !== null) this.#readTime(Date.parse(row.seenAt) + row.silentMs);
    this.#heartbeat.start();
  }

  /** Publishes where other replicas reach this one, once it listens there. */
  async advertise(url: string): Promise<void> {
    const { store, self } = this.#deps;
    this.#url = url;
    await store.advertise(self.id, self.bootId, url);
  }

  /**
   * The database's time as of the last renewal, advanced by the local clock: all replicas agree on it, whatever their
   * own clocks show. Milliseconds since the Unix epoch.
   */
  nowMs(): number {
    return this.#clock.nowMs() + this.#aheadMs;
  }

  /** Finds a replica, live or not. */
  find(id: string): Promise<Replica | null> {
    return this.#deps.store.find(id);
  }

  /** Every replica seen within the last thirty days, live or not. */
  list(): Promise<readonly Replica[]> {
    return this.#deps.store.list();
  }

  /** Replicas whose lease had not ended within the last second. */
  live(): Promise<readonly Replica[]> {
    const nowMs = this.#clock.nowMs();
    const { untilMs = 0 } = this.#live ?? {};
    if (this.#live !== null && untilMs > nowMs && untilMs <= nowMs + LIVE_FOR_MS) return this.#live.replicas;
    const replicas = this.list().then((all) => all.filter(({ isLive }) => isLive));
    replicas.catch(() => (this.#live = null));
    this.#live = { replicas, untilMs: nowMs + LIVE_FOR_MS };
    return replicas;
  }

  /** Number of live replicas when this one last renewed its lease; at least one, itself. */
  get liveCount(): number {
    return this.#liveCount;
  }

  /** Ends the lease, so that the next process with this id need not wait. */
  async close(): Promise<void> {
    await this.#heartbeat.close();
    const { store, self } = this.#deps;
    if (!this.#isTaken) await store.release(self.id, self.bootId);
  }

  async #renew(): Promise<void> {
    const { store, self, log } = this.#deps;
    if (this.#isTaken) return;
    const renewedAt = await store.renew(self.id, self.bootId);
    if (renewedAt === null) {
      const owner = await store.find(self.id);
      // The row may be gone, for example in a database restored from a backup. Claim it again.
      const other = owner ?? (await store.claim({ ...self, url: this.#url }));
      if (other !== null && other.bootId !== self.bootId) return this.#stop(other);
      log.warn({ replica: self.id }, 'the row of this replica was gone and is written again');
    } else this.#readTime(Date.parse(renewedAt));
    this.#liveCount = Math.max(1, (await this.live()).length);
    this.#renewals += 1;
    if (this.#renewals % PRUNE_EVERY_RENEWALS === 1) await store.prune(KEPT_MS);
  }

  #readTime(databaseMs: number): void {
    this.#aheadMs = databaseMs - this.#clock.nowMs();
  }

  #stop(owner: Replica): void {
    const { self, log, onTaken } = this.#deps;
    this.#isTaken = true;
    const error = replicaErrors.REPLICA_ID_TAKEN({ details: { id: self.id, started_at: owner.startedAt } });
    log.fatal({ err: error, replica: self.id, boot: self.bootId, other_boot: owner.bootId }, error.message);
    onTaken(error);
  }
}
