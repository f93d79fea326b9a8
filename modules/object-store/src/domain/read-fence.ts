import { BackgroundLoop, type Clock } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { ActiveReads } from './active-reads.ts';
import type { TrashCommands } from './ports/trash.ts';

const MAX_INTERVAL_MS = 5_000;
const MIN_INTERVAL_MS = 250;
/** How long the bytes stay for a replica that is paused or dead. */
const KEPT_MS = 15_000;
/** Rows per transaction, which limits how long other writers wait. */
const BATCH = 200;

/** Dependencies of the fence. */
export interface ReadFenceDeps {
  readonly metadata: Pick<TrashCommands, 'holdContent'>;
  readonly activeReads: Pick<ActiveReads, 'since'>;
  /** Unique among the processes that share the database. */
  readonly holder: string;
  /** How long content stays after its deletion. */
  readonly graceMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Tells the janitors of other replicas what this one has been reading for long, so that a slow download outlives the
 * grace period of an object that is deleted meanwhile. Short reads end within that period and cost nothing.
 */
export class ReadFence {
  readonly #deps: ReadFenceDeps;
  readonly #intervalMs: number;

  constructor(deps: ReadFenceDeps) {
    this.#deps = deps;
    // A read is announced at the latest after two intervals, before what was deleted at its start is due.
    this.#intervalMs = Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, deps.graceMs / 3));
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const loop = new BackgroundLoop({
      run: () => this.announce(),
      intervalMs: this.#intervalMs,
      onError: (err) => this.#deps.log.warn({ err }, 'long reads could not be announced to other replicas'),
    });
    await loop.runUntil(signal);
  }

  /** Announces everything that has been read for one interval. */
  async announce(): Promise<void> {
    const { metadata, activeReads, holder, clock } = this.#deps;
    const nowMs = clock.nowMs();
    const contentIds = activeReads.since(nowMs - this.#intervalMs).map(({ contentId }) => contentId);
    for (let start = 0; start < contentIds.length; start += BATCH) {
      const batch = contentIds.slice(start, start + BATCH);
      await metadata.holdContent({ holder, contentIds: batch, nowMs, untilMs: nowMs + KEPT_MS });
    }
  }
}
