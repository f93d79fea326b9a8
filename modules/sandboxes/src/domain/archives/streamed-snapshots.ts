import { isAppError } from '@svc/errors';
import type { Breach, Limits, QuotaLimits } from '@svc/quotas';
import { unlessAborted, type Clock, type DiskSpace, type Random } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import { sandboxErrors } from '../../errors.ts';
import { quotaExceeded } from '../admission.ts';
import { MAX_ROOT_BYTES } from '../clusters/pod-capabilities.ts';
import { assertDiskRoom } from '../disk-room.ts';
import type { SaveDriver } from '../driver.ts';
import type { Sealer } from '../secrets/secret.ts';
import type { FinishedState, Snapshot } from '../snapshots/snapshot.ts';
import { archiveContext, storeArchive, type ArchiveBlobs, type ArchiveSizes, type NewArchive } from './archive.ts';
import { ARCHIVE_KEY_BYTES, encodeArchive } from './archive-codec.ts';

const ID_BYTES = 16;
const MAX_REASON = 1000;
/** A running sandbox writes between the measurement and the freeze, and a tar archive has padding. */
const GROWTH = 1.1;
const GROWTH_BYTES = 64 * 1024 * 1024;
/** While others wait, a helper has to send this much on average once it was waited for this long. */
const CONTENDED_BYTES_PER_MS = 2048;
const CONTENDED_AFTER_MS = 10 * 60_000;

/** Stores snapshots that have no files on any node: their archive is all there is of them. */
export interface StreamedSnapshotRepository {
  /**
   * Records the archive of a snapshot in `making`, and reserves the bytes in the quotas in place of the disk of its sandbox.
   * Returns the limit that they would exceed, `gone` if the snapshot is, or null.
   */
  begin(archive: NewArchive, snapshotId: string, maxBytes: number, limits: Limits): Promise<Breach | 'gone' | null>;
  /**
   * The archive is complete, and with it the snapshot. For `ready`, records an event in the same transaction. Null if the
   * snapshot is not `making` any more, or others gave the archive up.
   */
  finish(archive: NewArchive, sizes: ArchiveSizes, state: FinishedState): Promise<Snapshot | null>;
  /** A complete snapshot, listed or not. */
  find(snapshotId: string): Promise<Snapshot | null>;
  /** Removes a snapshot in `making`, and records an event with the reason in the same transaction. */
  fail(snapshotId: string, reason: string): Promise<void>;
  /** Snapshots of clusters that the node has not completed, or has made for forks. */
  unfinished(node: string): Promise<readonly string[]>;
  /** The same as `fail`; also removes the snapshot of a fork, without an event. Does nothing to any other. */
  discard(snapshotId: string, reason: string): Promise<void>;
  /** Forgets removed snapshots, and incomplete ones and those of forks that silent nodes have left. */
  sweep(silentNodes: readonly string[]): Promise<void>;
}

export interface StreamedSnapshotsDeps {
  readonly blobs: ArchiveBlobs;
  /** Whether `blobs` takes room on the disk of this machine. */
  readonly isOnDisk: boolean;
  readonly disk: DiskSpace;
  readonly repository: StreamedSnapshotRepository;
  readonly sealer: Sealer;
  readonly quotaLimits: QuotaLimits;
  readonly node: string;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly random: Random;
  readonly log: Logger;
  /** Removes an archive unless it is complete. Returns whether it did. */
  readonly discard: (id: string) => Promise<boolean>;
}

/**
 * Takes snapshots of sandboxes that no node has the files of, straight into the storage for archives. A snapshot is complete
 * together with its archive, or there is none.
 */
export class StreamedSnapshots {
  readonly #deps: StreamedSnapshotsDeps;
  readonly #active = new Set<string>();
  readonly #underWay = new Set<string>();
  readonly #closed = new AbortController();

  constructor(deps: StreamedSnapshotsDeps) {
    this.#deps = deps;
  }

  /** Whether this process is writing the archive. */
  isWriting(id: string): boolean {
    return this.#active.has(id);
  }

  /** `removeLeft` leaves a snapshot alone until `end`. Call this before there is a record of it. */
  begin(snapshotId: string): void {
    this.#underWay.add(snapshotId);
  }

  /** The snapshot is complete, or the fork has ended that it was made for, or it should be removed. */
  end(snapshotId: string): void {
    this.#underWay.delete(snapshotId);
  }

  /** Removes what this node left: the previous process at its end, or this one while the database was away. */
  async removeLeft(reason = NOT_STORED): Promise<void> {
    const { repository, node } = this.#deps;
    for (const id of await repository.unfinished(node)) {
      if (!this.#underWay.has(id)) await repository.discard(id, reason);
    }
  }

  /**
   * `isContended`: whether others wait for this to end. `ending` ends it at once, without waiting for the storage, because what
   * ends the sandbox waits for this. Throws its reason, QUOTA_EXCEEDED, HOST_DISK_FULL, SNAPSHOT_NOT_FOUND, and what the driver
   * throws.
   */
  async take(
    driver: SaveDriver,
    snapshot: Snapshot,
    state: FinishedState,
    isContended: () => boolean,
    ending: AbortSignal,
  ): Promise<Snapshot> {
    const { blobs, isOnDisk, disk, repository, sealer, quotaLimits, node, random, log } = this.#deps;
    const { id: snapshotId, sandboxId, workspaceUuid } = snapshot;
    const signal = AbortSignal.any([this.#closed.signal, ending]);
    let storing: Promise<unknown> = Promise.resolve();
    const id = random.bytes(ID_BYTES).toString('hex');
    const bytes = random.bytes(ARCHIVE_KEY_BYTES);
    const key = await sealer.wrap(bytes, archiveContext(id));
    const archive: NewArchive = { id, snapshotId, base: null, format: driver.format, node, key, workspaceUuid: null };
    this.#active.add(id);
    try {
      const measuredBytes = await driver.sizeBytes(sandboxId, signal);
      const maxBytes = Math.min(MAX_ROOT_BYTES, Math.ceil(measuredBytes * GROWTH) + GROWTH_BYTES);
      if (isOnDisk) await assertDiskRoom(disk, maxBytes);
      const limits = await quotaLimits.readLimits(workspaceUuid);
      const refusal = await repository.begin(archive, snapshotId, maxBytes, limits);
      if (refusal === 'gone') throw sandboxErrors.SNAPSHOT_NOT_FOUND();
      if (refusal !== null) throw quotaExceeded(refusal);
      const meter = { bytes: 0 };
      const sizeBytes = await driver.save(sandboxId, maxBytes, signal, (content) => {
        const metered = this.#metered(content, meter, isContended);
        const sealed = encodeArchive(metered, { id, bytes }, (size) => random.bytes(size));
        const stored = storeArchive(blobs, id, sealed, signal);
        storing = stored.catch(() => undefined); // its failure is that of the transfer
        return stored;
      });
      const made = await repository.finish(archive, { sizeBytes, unpackedBytes: meter.bytes }, state);
      if (made === null) throw sandboxErrors.SNAPSHOT_NOT_FOUND();
      this.#active.delete(id);
      log.info({ snapshot: snapshotId, bytes: sizeBytes }, 'a snapshot was stored');
      return made;
    } catch (error) {
      const made = await this.#undo(archive, { snapshot, state, storing, ending }, error);
      if (made !== null) return made;
      throw error;
    }
  }

  /**
   * Removes what is left of a snapshot. Returns the snapshot if it is complete after all: the database may have stored it
   * without an answer.
   */
  async #undo(
    { id }: NewArchive,
    { snapshot, state, storing, ending }: Taking,
    error: unknown,
  ): Promise<Snapshot | null> {
    const { repository, discard, log } = this.#deps;
    // The rows stay if this fails, and the next check of this node removes them: `removeLeft`, and that of archives.
    const warn = (cause: unknown): void => log.warn({ err: cause, archive: id }, 'a failed snapshot is left');
    const discarded = storing
      .then(() => discard(id))
      .catch(warn)
      .finally(() => this.#active.delete(id));
    if (state === 'ready') await repository.fail(snapshot.id, messageOf(error).slice(0, MAX_REASON)).catch(warn);
    const isGone = await unlessAborted(discarded, ending, () => ending.reason as Error).catch(() => true);
    return isGone === false ? repository.find(snapshot.id) : null;
  }

  /** Time that the storage takes does not count. */
  async *#metered(
    content: AsyncIterable<Uint8Array>,
    meter: { bytes: number },
    isContended: () => boolean,
  ): AsyncGenerator<Uint8Array> {
    const { clock } = this.#deps;
    let waitedMs = 0;
    let sinceMs = clock.nowMs();
    for await (const chunk of content) {
      waitedMs += clock.nowMs() - sinceMs;
      meter.bytes += chunk.length;
      const isSlow = waitedMs > CONTENDED_AFTER_MS && meter.bytes < waitedMs * CONTENDED_BYTES_PER_MS;
      if (isSlow && isContended()) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: TOO_SLOW } });
      yield chunk;
      sinceMs = clock.nowMs();
    }
  }

  /** Ends transfers. Their snapshots are not made. */
  close(): void {
    this.#closed.abort(new Error('the platform is shutting down'));
  }
}

/** A snapshot that is being taken. */
interface Taking {
  readonly snapshot: Snapshot;
  readonly state: FinishedState;
  /** Ends, without a failure, when the storage has ended. */
  readonly storing: Promise<unknown>;
  /** Aborted if what waits for the take must not wait for the storage. */
  readonly ending: AbortSignal;
}

const NOT_STORED = 'The files of the sandbox could not be stored';
const TOO_SLOW = 'its files arrive too slowly while other snapshots wait';

function messageOf(error: unknown): string {
  return isAppError(error) ? error.message : NOT_STORED;
}
