import { BackgroundLoop } from '@svc/runtime';
import type { UsageResolution } from '../ports/usage-history.ts';
import type { StoreDeps } from '../store-deps.ts';
import { WorkLease } from '../work-lease.ts';
import type { TrafficCounters } from './traffic-counters.ts';
import { PERIOD_MS, periodsAt } from './usage-periods.ts';

const LEASE = 'usage';
/** Buckets or workspaces per command, so that other writers are not delayed. */
const PAGE = 200;
const TRAFFIC_PAGE = 32;
const FORGET_PAGE = 1_000;
/** Limit per round. The rest waits for the next one. */
const FORGET_PAGES = 20;

export interface UsageRecorderOptions {
  deps: StoreDeps;
  traffic: TrafficCounters;
  /** Unique among the processes that share the database. */
  holder: string;
}

/**
 * Records usage. Each replica adds its own traffic. One replica at a time, under a lease, records stored bytes, which
 * are the same for all, and removes old records.
 */
export class UsageRecorder {
  readonly #options: UsageRecorderOptions;
  readonly #everyMs: number;
  readonly #lease: WorkLease;

  constructor(options: UsageRecorderOptions) {
    this.#options = options;
    const { deps, holder } = options;
    const { metadata, config, clock } = deps;
    this.#everyMs = config.usage.interval_seconds * 1_000;
    this.#lease = new WorkLease({ metadata, name: LEASE, holder, durationMs: 3 * this.#everyMs, clock });
  }

  /** Runs until the signal aborts. Logs a failed round and tries again in the next one. */
  async run(signal: AbortSignal): Promise<void> {
    const loop = new BackgroundLoop({
      run: () => this.round(signal),
      intervalMs: this.#everyMs,
      runsAtStart: true,
      onError: (error) => this.#logFailure(error),
    });
    await loop.runUntil(signal);
  }

  async round(signal: AbortSignal): Promise<void> {
    await this.#flush();
    if (signal.aborted || !(await this.#lease.keep())) return;
    await this.#noteStored(signal);
    await this.#forget('hour', signal);
    await this.#forget('day', signal);
  }

  /** Call after the last request: records the traffic so far. */
  async close(): Promise<void> {
    await this.#guarded(() => this.#flush());
    await this.#guarded(() => this.#lease.release());
  }

  async #flush(): Promise<void> {
    const { deps, traffic } = this.#options;
    const taken = traffic.take();
    try {
      while (taken.length > 0) {
        const page = taken.slice(-TRAFFIC_PAGE);
        await deps.metadata.addTraffic({ ...periodsAt(deps.clock.nowMs()), traffic: page });
        taken.splice(-page.length);
      }
    } finally {
      traffic.putBack(taken);
    }
    const uncounted = traffic.takeUncounted();
    if (uncounted > 0) deps.log.warn({ requests: uncounted }, 'requests to too many buckets at once were not counted');
  }

  async #noteStored(signal: AbortSignal): Promise<void> {
    const { metadata, clock } = this.#options.deps;
    const periods = periodsAt(clock.nowMs());
    for (let afterBucketId: number | null = -1; afterBucketId !== null && !signal.aborted;) {
      afterBucketId = await metadata.noteBucketUsage({ ...periods, afterBucketId, limit: PAGE });
    }
    for (let afterWorkspace: string | null = ''; afterWorkspace !== null && !signal.aborted;) {
      afterWorkspace = await metadata.noteWorkspaceUsage({ ...periods, afterWorkspace, limit: PAGE });
    }
  }

  async #forget(resolution: UsageResolution, signal: AbortSignal): Promise<void> {
    const { metadata, clock, config } = this.#options.deps;
    const days = resolution === 'hour' ? config.usage.hourly_days : config.usage.daily_days;
    const beforeMs = clock.nowMs() - days * PERIOD_MS.day;
    for (let page = 0; page < FORGET_PAGES && !signal.aborted; page += 1) {
      if ((await metadata.forgetUsage({ resolution, beforeMs, limit: FORGET_PAGE })) < FORGET_PAGE) return;
    }
  }

  async #guarded(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#logFailure(error);
    }
  }

  #logFailure(error: unknown): void {
    this.#options.deps.log.error({ err: error }, 'usage could not be recorded');
  }
}
