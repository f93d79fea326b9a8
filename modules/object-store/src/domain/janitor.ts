import { BackgroundLoop } from '@svc/runtime';
import type { TrashEntry } from './ports/trash.ts';
import type { CredentialCache } from './credential-cache.ts';
import type { StoreDeps } from './store-deps.ts';

const ROUND_MS = 15_000;
const SWEEP_MS = 6 * 3_600_000;
const BATCH = 256;
/** How long a repeated completion returns the first response. */
const REMEMBER_COMPLETED_MS = 24 * 3_600_000;
/** A presigning key is kept this long after its last use, plus the maximum lifetime of a URL. */
const PRESIGN_MARGIN_MS = 24 * 3_600_000;

type JanitorDeps = Pick<StoreDeps, 'metadata' | 'blobs' | 'activeReads' | 'config' | 'clock' | 'log'>;

/** Background maintenance: removes unreferenced content after its grace period. One round at a time. */
export class Janitor {
  readonly #deps: JanitorDeps;
  readonly #credentials: Pick<CredentialCache, 'takeUses'>;

  constructor(deps: JanitorDeps, credentials: Pick<CredentialCache, 'takeUses'>) {
    this.#deps = deps;
    this.#credentials = credentials;
  }

  /** Runs until the signal aborts. Logs a failed round and tries again in the next one. */
  async run(signal: AbortSignal): Promise<void> {
    let nextSweepAtMs = this.#deps.clock.nowMs();
    const loop = new BackgroundLoop({
      run: async () => {
        if (this.#deps.clock.nowMs() >= nextSweepAtMs) {
          nextSweepAtMs = this.#deps.clock.nowMs() + SWEEP_MS;
          await this.#guarded('sweep', () => this.sweep(signal));
        }
        await this.round(signal);
      },
      intervalMs: ROUND_MS,
      runsAtStart: true,
      onError: (error) => this.#logFailure('round', error),
    });
    await loop.runUntil(signal);
    await this.#guarded('last uses of keys', () => this.#noteUses());
  }

  async round(signal?: AbortSignal): Promise<void> {
    await this.#noteUses();
    await this.#purgeBuckets(signal);
    await this.emptyTrash(signal);
    const { metadata, config, clock } = this.#deps;
    await metadata.forgetCompletedUploads({ beforeMs: clock.nowMs() - REMEMBER_COMPLETED_MS, limit: 1_000 });
    const unusedSinceMs = clock.nowMs() - config.limits.presign_seconds * 1_000 - PRESIGN_MARGIN_MS;
    await metadata.forgetPresignKeys({ unusedSinceMs, limit: 1_000 });
  }

  /**
   * Unlinks due entries, then forgets them; a crash in between only repeats an unlink. Returns the number of entries
   * removed.
   */
  async emptyTrash(signal?: AbortSignal): Promise<number> {
    const { metadata, clock, activeReads } = this.#deps;
    let removed = 0;
    for (;;) {
      const due = await metadata.dueTrash({ nowMs: clock.nowMs(), limit: BATCH });
      const ready = due.filter((entry) => !activeReads.isRead(entry));
      const gone: TrashEntry[] = [];
      const kept: TrashEntry[] = [];
      for (const entry of ready) {
        if (signal?.aborted === true) return removed;
        ((await this.#remove(entry)) ? gone : kept).push(entry);
      }
      await metadata.forgetTrash({ removed: gone, kept });
      removed += gone.length;
      if (due.length < BATCH || ready.length === 0) return removed;
    }
  }

  /**
   * Removes what crashed writers left behind: unsealed files, and sealed blobs that no row refers to. Returns the
   * number removed. A crash leaves no more of these than uploads can run at once; if there are more, rows are missing
   * (an older database was restored), and no blob is touched.
   */
  async sweep(signal?: AbortSignal): Promise<number> {
    const { blobs, metadata, config, clock, log } = this.#deps;
    let removed = await blobs.sweepUnsealed(config.sweep_grace_seconds * 1_000);
    const unknown: string[] = [];
    for await (const blob of blobs.list()) {
      if (signal?.aborted === true) return removed;
      if (blob.modifiedAtMs > clock.nowMs() - config.sweep_grace_seconds * 1_000) continue;
      if (await metadata.isBlobKnown({ blobId: blob.id })) continue;
      unknown.push(blob.id);
      if (unknown.length > config.limits.uploads_in_flight) {
        log.error('more orphaned blobs than a crash can leave, so none were removed; was an older database restored?');
        return removed;
      }
    }
    for (const blobId of unknown) {
      // Its writer may be alive, at a replica or a machine that was paused for longer than the grace period.
      if (!(await metadata.condemnBlob({ blobId }))) continue;
      await blobs.remove(blobId);
      removed += 1;
    }
    if (removed > 0) log.info({ removed }, 'removed files of unfinished writes');
    return removed;
  }

  /** False if a row still needs the content, which would be a bug. It is then kept and logged as an error. */
  async #remove(entry: TrashEntry): Promise<boolean> {
    const { metadata, blobs, log } = this.#deps;
    if (await metadata.isContentNeeded(entry)) {
      log.error({ content: entry.contentId }, 'something in the trash is still needed; it was kept');
      return false;
    }
    if (entry.kind === 'blob') await blobs.remove(entry.contentId);
    else await this.#removeParts(entry.contentId);
    return true;
  }

  async #removeParts(manifestId: string): Promise<void> {
    const { metadata, blobs } = this.#deps;
    for (;;) {
      const parts = await metadata.manifestBlobs({ manifestId, limit: BATCH });
      const removable = parts.filter((part) => !part.shared).map((part) => part.blobId);
      for (const blobId of removable) await blobs.remove(blobId);
      const last = parts.at(-1);
      if (last === undefined) return;
      await metadata.forgetManifestParts({ manifestId, throughPartNumber: last.partNumber, removedBlobs: removable });
    }
  }

  async #purgeBuckets(signal?: AbortSignal): Promise<void> {
    const { metadata, clock } = this.#deps;
    for (const bucketId of await metadata.bucketsToPurge({ nowMs: clock.nowMs(), limit: BATCH })) {
      for (;;) {
        if (signal?.aborted === true) return;
        if (await metadata.purgeBucket({ bucketId, nowMs: clock.nowMs(), limit: BATCH, trashDueAtMs: clock.nowMs() }))
          break;
      }
    }
  }

  async #noteUses(): Promise<void> {
    const usedAtMs = this.#credentials.takeUses();
    if (Object.keys(usedAtMs).length > 0) await this.#deps.metadata.touchAccessKeys({ usedAtMs });
  }

  async #guarded(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#logFailure(what, error);
    }
  }

  #logFailure(what: string, error: unknown): void {
    this.#deps.log.error({ err: error }, `the object store's ${what} failed`);
  }
}
