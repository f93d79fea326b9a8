import { isAppError } from '@svc/errors';
import type { Breach, Limits, QuotaLimits } from '@svc/quotas';
import type { Clock, DiskSpace, Random } from '@svc/runtime';
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
  /** Removes a snapshot in `making`, and records an event with the reason in the same transaction. */
  fail(snapshotId: string, reason: string): Promise<void>;
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
  /** Removes an archive that does not count. */
  readonly drop: (id: string) => Promise<void>;
}

/**
 * Takes snapshots of sandboxes that no node has the files of, straight into the storage for archives. A snapshot is complete
 * together with its archive, or there is none.
 */
export class StreamedSnapshots {
  readonly #deps: StreamedSnapshotsDeps;
  readonly #active = new Set<string>();
  readonly #closed = new AbortController();

  constructor(deps: StreamedSnapshotsDeps) {
    this.#deps = deps;
  }

  /** Whether this process is writing the archive. */
  isWriting(id: string): boolean {
    return this.#active.has(id);
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
    const { blobs, isOnDisk, disk, repository, sealer, quotaLimits, node, random, log, drop } = this.#deps;
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
      // The rows stay if this fails, and the next start or check of this node removes them.
      const warn = (cause: unknown): void => log.warn({ err: cause, archive: id }, 'a failed snapshot is left');
      const dropped = storing
        .then(() => drop(id))
        .catch(warn)
        .finally(() => this.#active.delete(id));
      if (state === 'ready') await this.fail(snapshot, messageOf(error)).catch(warn);
      if (!ending.aborted) await dropped;
      throw error;
    }
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

  /** Removes a snapshot that is not complete, and records why. */
  async fail({ id, state }: Pick<Snapshot, 'id' | 'state'>, reason: string): Promise<void> {
    if (state === 'making') await this.#deps.repository.fail(id, reason.slice(0, MAX_REASON));
  }

  /** Ends transfers. Their snapshots are not made. */
  close(): void {
    this.#closed.abort(new Error('the platform is shutting down'));
  }
}

const TOO_SLOW = 'its files arrive too slowly while other snapshots wait';

function messageOf(error: unknown): string {
  return isAppError(error) ? error.message : 'The files of the sandbox could not be stored';
}
