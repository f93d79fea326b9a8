import { BackgroundLoop } from '@svc/runtime';
import type { BucketService } from './bucket-service.ts';
import { storeErrors } from '../errors.ts';
import type { BucketFork } from './ports/bucket-forks.ts';
import type { BucketRecord } from './ports/records.ts';
import type { StoreDeps } from './store-deps.ts';
import { WorkLease } from './work-lease.ts';

const LEASE = 'bucket-forks';
const LEASE_MS = 60_000;
const POLL_MS = 5_000;
/** Objects per transaction, which limits how long other writers wait. */
const BATCH = 500;
const FORKS_AT_ONCE = 64;

export interface NewFork {
  source: BucketRecord;
  name: string;
  /** How long to wait until it is complete. It continues in the background. */
  waitMs: number;
  /** Ends the wait with its reason. */
  signal?: AbortSignal;
}

/**
 * Makes buckets whose objects share the bytes of another bucket's. Requests copy small buckets themselves; the background
 * loop completes the others, also after a crash.
 */
export class BucketForks {
  readonly #deps: StoreDeps;
  readonly #buckets: Pick<BucketService, 'readLimits'>;
  readonly #lease: WorkLease;

  constructor(deps: StoreDeps, buckets: Pick<BucketService, 'readLimits'>) {
    this.#deps = deps;
    this.#buckets = buckets;
    const { metadata, identifiers, clock } = deps;
    const holder = identifiers.versionToken();
    this.#lease = new WorkLease({ metadata, name: LEASE, holder, durationMs: LEASE_MS, clock });
  }

  /**
   * Forks a bucket within its workspace. Throws `BucketAlreadyExists`, `BucketAlreadyOwnedByYou`, `TooManyBuckets`,
   * `QuotaExceeded`, and `NoSuchBucket` if the source is gone.
   */
  async start({ source, name, waitMs, signal }: NewFork): Promise<BucketFork> {
    const { metadata, identifiers, clock } = this.#deps;
    const { id: bucketId, workspaceUuid } = await metadata.forkBucket({
      id: identifiers.bucketId(),
      name,
      workspaceUuid: source.workspaceUuid,
      sourceId: source.id,
      nowMs: clock.nowMs(),
      tenant: await this.#buckets.readLimits(source.workspaceUuid),
    });
    const untilMs = clock.nowMs() + waitMs;
    for (let isDone = false; !isDone && clock.nowMs() < untilMs;) {
      signal?.throwIfAborted();
      isDone = await this.#copy(bucketId, workspaceUuid);
    }
    return await this.get(name, workspaceUuid);
  }

  /** Throws `NoSuchBucket` if there is no fork of this name. */
  async get(name: string, workspaceUuid: string): Promise<BucketFork> {
    const fork = await this.#deps.metadata.findFork({ name, workspaceUuid });
    if (fork === null) throw storeErrors.NoSuchBucket({ details: { resource: name } });
    return fork;
  }

  /** Gives up a fork that is not complete. Null if there is none of this name. */
  async abandon(name: string, workspaceUuid: string): Promise<BucketRecord | null> {
    const { metadata, clock } = this.#deps;
    const fork = await metadata.findFork({ name, workspaceUuid });
    if (fork === null || fork.finishedAtMs !== null) return null;
    const isAbandoned = await metadata.abandonFork({ bucketId: fork.bucket.id, nowMs: clock.nowMs() });
    return isAbandoned ? fork.bucket : null;
  }

  /** Runs until the signal aborts. Logs a failed round and resumes in the next one. */
  async run(signal: AbortSignal): Promise<void> {
    const loop = new BackgroundLoop({
      run: () => this.round(signal),
      intervalMs: POLL_MS,
      runsAtStart: true,
      onError: (err) => this.#deps.log.error({ err }, 'a fork of a bucket was interrupted; it resumes automatically'),
    });
    await loop.runUntil(signal);
  }

  /** Completes all forks. They take turns, so that a large one does not delay the others. */
  async round(signal: AbortSignal): Promise<void> {
    const { metadata } = this.#deps;
    let open = await metadata.openForks({ limit: FORKS_AT_ONCE });
    if (open.length === 0) return;
    try {
      while (open.length > 0) {
        for (const { bucketId, workspaceUuid } of open) {
          if (signal.aborted || !(await this.#lease.keep())) return;
          await this.#copy(bucketId, workspaceUuid);
        }
        open = await metadata.openForks({ limit: FORKS_AT_ONCE });
      }
    } finally {
      await this.#lease.release();
    }
  }

  #copy(bucketId: number, workspaceUuid: string): Promise<boolean> {
    const { metadata, clock } = this.#deps;
    return metadata.copyToFork({ bucketId, workspaceUuid, limit: BATCH, nowMs: clock.nowMs() });
  }
}
