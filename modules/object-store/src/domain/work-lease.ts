import type { Clock } from '@svc/runtime';
import type { WorkLeaseCommands } from './ports/work-leases.ts';

export interface WorkLeaseOptions {
  metadata: WorkLeaseCommands;
  /** The work that one process at a time does. */
  name: string;
  /** Unique among the processes that share the database. */
  holder: string;
  /** How long a killed process keeps others from the work. */
  durationMs: number;
  /** A lease younger than this is not renewed. Defaults to 0: each call of `keep` renews. */
  renewAfterMs?: number;
  clock: Clock;
}

/** This process's share in a lease: it is taken before the work, and kept during it. */
export class WorkLease {
  readonly #options: WorkLeaseOptions;
  /** 0 while the lease is not held. */
  #untilMs = 0;

  constructor(options: WorkLeaseOptions) {
    this.#options = options;
  }

  /** Takes or renews the lease. False if another process holds it. */
  async keep(): Promise<boolean> {
    const { metadata, name, holder, durationMs, renewAfterMs = 0, clock } = this.#options;
    const nowMs = clock.nowMs();
    if (this.#untilMs - nowMs > durationMs - renewAfterMs) return true;
    const untilMs = nowMs + durationMs;
    const isHeld = await metadata.takeLease({ name, holder, nowMs, untilMs });
    this.#untilMs = isHeld ? untilMs : 0;
    return isHeld;
  }

  /** Lets another process take the lease at once. Does nothing if it is not held. */
  async release(): Promise<void> {
    if (this.#untilMs === 0) return;
    const { metadata, name, holder } = this.#options;
    await metadata.releaseLease({ name, holder });
    this.#untilMs = 0;
  }
}
