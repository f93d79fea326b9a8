import { isAppError } from '@svc/errors';
import type { QuotaLimits } from '@svc/quotas';
import { BackgroundLoop, type Clock, type DiskSpace, type Random } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import { sandboxErrors } from '../../errors.ts';
import { quotaExceeded } from '../admission.ts';
import type { ArchiveDriver, SandboxDriver, SandboxSpec, StartPlace } from '../driver.ts';
import type { SandboxNodes } from '../ports.ts';
import type { Sealer } from '../secrets/secret.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';
import type { TemplateRepository } from '../templates/template.ts';
import {
  archiveContext,
  storeArchive,
  type Archive,
  type ArchiveBlobs,
  type ArchiveRepository,
  type NewArchive,
  type UnarchivedImage,
} from './archive.ts';
import { ARCHIVE_KEY_BYTES, decodeArchive, encodeArchive, maxArchiveBytes } from './archive-codec.ts';
import { ArchivedImages } from './archived-images.ts';
import { StreamedSnapshots, type StreamedSnapshotRepository } from './streamed-snapshots.ts';

/** A wake of the loop comes first; this finds what one missed. */
const CHECK_EVERY_MS = 15_000;
const RETRY_AFTER_MS = 60_000;
const SWEEP_EVERY_MS = 10 * 60_000;
/** Longer than any upload. */
const UNSEALED_FOR_MS = 24 * 3_600_000;
/** A node that is silent for this long has ended, or returns to find its work abandoned. */
const GIVE_UP_AFTER_MS = 3_600_000;
const BATCH = 100;
const ID_BYTES = 16;

export interface SnapshotArchivesDeps {
  readonly blobs: ArchiveBlobs;
  /** Whether other nodes reach `blobs`: what drivers keep on this node is then copied there. */
  readonly isShared: boolean;
  /** Whether `blobs` takes room on the disk of this machine. */
  readonly isOnDisk: boolean;
  readonly repository: ArchiveRepository;
  readonly streamedRepository: StreamedSnapshotRepository;
  readonly layers: Pick<TemplateRepository, 'findLayer' | 'insertLayer' | 'removeLayer'>;
  readonly driver: SandboxDriver;
  readonly sealer: Sealer;
  readonly quotaLimits: QuotaLimits;
  readonly node: string;
  readonly nodes: Pick<SandboxNodes, 'silent'>;
  readonly disk: DiskSpace;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/**
 * Copies of this node's snapshots, and of the images of its templates, in storage that all nodes reach, so that each of
 * them can create sandboxes from any of these, and the only copies of what is streamed. The former are written in the background, one at a time, with owners in turns,
 * and removed with their snapshot, or once no template has the image.
 */
export class SnapshotArchives {
  /** The archived images of templates. */
  readonly images: ArchivedImages;
  readonly streamed: StreamedSnapshots;
  readonly #deps: SnapshotArchivesDeps;
  readonly #loop: BackgroundLoop;
  /** When to try again, by snapshot or build. After a restart, everything is tried at once. */
  readonly #retries = new Map<string, number>();
  #nextSweepAtMs = 0;
  #nextUnsealedSweepAtMs = 0;

  constructor(deps: SnapshotArchivesDeps) {
    this.#deps = deps;
    this.images = new ArchivedImages({ ...deps, read: (archive) => this.#read(archive) });
    this.streamed = new StreamedSnapshots({
      ...deps,
      repository: deps.streamedRepository,
      discard: (id) => this.#discard(id),
    });
    this.#loop = new BackgroundLoop({
      run: (signal) => this.#run(signal),
      intervalMs: CHECK_EVERY_MS,
      runsAtStart: true,
      onError: (error) => deps.log.warn({ err: error }, 'nothing could be archived'),
      clock: deps.clock,
    });
  }

  /** Copies only what a driver that is open keeps. */
  start(): void {
    this.#loop.start();
  }

  /** Before anything is written: removes what the previous process was writing on this disk. */
  async recover(): Promise<void> {
    if (this.#deps.isOnDisk) await this.#deps.blobs.sweepUnsealed(0);
  }

  /** There is something to archive. */
  wake(): void {
    this.#loop.wake();
  }

  /** There is something to remove. */
  wakeSweep(): void {
    this.#nextSweepAtMs = 0;
    this.#loop.wake();
  }

  async close(): Promise<void> {
    this.streamed.close();
    await Promise.all([this.#loop.close(), this.images.close()]);
    await this.#deps.blobs.close();
  }

  /** The archive of a snapshot, whatever can read it. */
  find(snapshotId: string): Promise<Archive | null> {
    return this.#deps.repository.find(snapshotId);
  }

  /** The archive of a snapshot if the driver can read it. */
  async findFor(snapshotId: string, driver: SandboxDriver): Promise<Archive | null> {
    const format = readerOf(driver)?.format;
    const archive = format === undefined ? null : await this.find(snapshotId);
    return archive?.format === format ? archive : null;
  }

  /** Creates a sandbox from an archive, in place of the driver's `create`. */
  async create(
    driver: SandboxDriver,
    spec: SandboxSpec,
    archive: Archive,
    signal: AbortSignal,
    place: StartPlace,
  ): Promise<void> {
    const { repository } = this.#deps;
    const reader = readerOf(driver);
    if (reader === undefined) throw new Error('the driver reads no archives');
    await reader.create(
      spec,
      {
        base: archive.base,
        open: () => this.#read(archive),
        openBase: async () => {
          const base = archive.base === null ? null : await repository.useBase(archive.base, archive.format);
          return base === null ? null : this.#read(base);
        },
      },
      signal,
      place,
    );
  }

  #need(): ArchiveDriver {
    const archives = this.#deps.driver.snapshots?.archives;
    if (archives === undefined) throw new Error('the driver reads no archives');
    return archives;
  }

  async *#read({ id, sizeBytes, key }: Archive): AsyncGenerator<Uint8Array> {
    const { blobs, sealer } = this.#deps;
    const bytes = await sealer.unwrap(key, archiveContext(id));
    yield* decodeArchive(blobs.read(id, { start: 0, endExclusive: sizeBytes }), { id, bytes });
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { repository, node, clock, driver, isShared } = this.#deps;
    // Only streams are being written now: the others are what a crash or a failure left.
    for (const id of await repository.unfinished(node)) if (!this.streamed.isWriting(id)) await this.#discard(id);
    if (clock.nowMs() >= this.#nextSweepAtMs) {
      this.#nextSweepAtMs = clock.nowMs() + SWEEP_EVERY_MS;
      await this.sweep();
    }
    const archives = driver.snapshots?.archives;
    if (archives === undefined || !isShared || !driver.status().available) return;
    while (!signal.aborted) {
      const snapshots = this.#roundOf(await repository.unarchived(node, BATCH));
      const unarchived = driver.builds && (await repository.unarchivedImages(node, archives.format, BATCH));
      const images = this.#roundOf(unarchived ?? []);
      if (snapshots.length + images.length === 0) return;
      for (const snapshot of snapshots) await this.#archive(archives, snapshot, signal);
      for (const image of images) await this.#archiveImage(archives, image, signal);
    }
  }

  /** One of each owner: the many of one delay those of others, new ones included, by one archive. */
  #roundOf<Item extends Pick<Snapshot, 'id' | 'workspaceUuid'>>(unarchived: readonly Item[]): readonly Item[] {
    const { clock, quotaLimits } = this.#deps;
    for (const [id, retryAtMs] of this.#retries) if (retryAtMs <= clock.nowMs()) this.#retries.delete(id);
    const round = new Map<string, Item>();
    for (const item of unarchived) {
      const owner = quotaLimits.shareOf(item.workspaceUuid);
      if (!this.#retries.has(item.id) && !round.has(owner)) round.set(owner, item);
    }
    return [...round.values()];
  }

  /** Removes archives that nothing needs, and what other nodes did not finish. Safe on every node at once. */
  async sweep(): Promise<void> {
    const { repository, streamedRepository, blobs, nodes, node, clock } = this.#deps;
    const silent = (await nodes.silent(GIVE_UP_AFTER_MS)).filter((each) => each !== node);
    await repository.abandon(silent);
    await streamedRepository.sweep(silent);
    // Their rows stay: a writer that was paused may still store something, and removes it together with the row.
    for (const id of await repository.abandoned(BATCH)) await blobs.remove(id);
    for (;;) {
      const unneeded = await repository.takeUnneeded(BATCH);
      for (const id of unneeded) await this.#drop(id);
      if (unneeded.length < BATCH) break;
    }
    if (clock.nowMs() < this.#nextUnsealedSweepAtMs) return;
    this.#nextUnsealedSweepAtMs = clock.nowMs() + UNSEALED_FOR_MS;
    await blobs.sweepUnsealed(UNSEALED_FOR_MS);
  }

  /**
   * Removes an archive unless it is complete, and returns whether it did. Only the record tells: the archive may have become
   * complete a moment ago, or without an answer from the database.
   */
  async #discard(id: string): Promise<boolean> {
    const isRemoved = await this.#deps.repository.markRemoved(id);
    if (isRemoved) await this.#drop(id);
    return isRemoved;
  }

  /** Removes an archive that is marked as removed. First the bytes: a crash in between repeats it. */
  async #drop(id: string): Promise<void> {
    await this.#deps.blobs.remove(id);
    await this.#deps.repository.forget(id);
  }

  async #archive(driver: ArchiveDriver, snapshot: Snapshot, signal: AbortSignal): Promise<void> {
    const { repository, clock, log } = this.#deps;
    const startedAtMs = clock.nowMs();
    const work = async (): Promise<void> => {
      const base = await driver.base(snapshot.id);
      if (base !== null) await this.#writeBase(driver, base, snapshot.workspaceUuid, signal);
      const what = { snapshotId: snapshot.id, base, workspaceUuid: null };
      const sizeBytes = await this.#write(what, snapshot, Infinity, driver.read(snapshot.id, signal), signal);
      const facts = { snapshot: snapshot.id, bytes: sizeBytes, duration_ms: clock.nowMs() - startedAtMs };
      if (sizeBytes !== null) log.info(facts, 'a snapshot is archived');
    };
    await this.#attempt(snapshot.id, work, (reason) => repository.noteFailure(snapshot.id, reason), signal);
  }

  async #archiveImage(driver: ArchiveDriver, image: UnarchivedImage, signal: AbortSignal): Promise<void> {
    const { repository, clock, log } = this.#deps;
    const { id, workspaceUuid, digest } = image;
    const startedAtMs = clock.nowMs();
    const work = async (): Promise<void> => {
      const sizeBytes = await this.#writeBase(driver, digest, workspaceUuid, signal);
      const facts = { build: id, bytes: sizeBytes, duration_ms: clock.nowMs() - startedAtMs };
      if (sizeBytes !== null) log.info(facts, 'the image of a template is archived');
    };
    await this.#attempt(id, work, (reason) => repository.noteImageFailure(id, reason), signal);
  }

  /** A failed attempt is repeated later. `id`: of the snapshot or build. */
  async #attempt(
    id: string,
    work: () => Promise<void>,
    noteFailure: (reason: string) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return;
    const { clock, log } = this.#deps;
    try {
      await work();
      this.#retries.delete(id);
    } catch (error) {
      if (signal.aborted) return;
      this.#retries.set(id, clock.nowMs() + RETRY_AFTER_MS);
      log.warn({ err: error, of: id }, 'an archive could not be written yet');
      const reason = isAppError(error) ? error.message : 'The archive could not be written';
      await noteFailure(reason.slice(0, 1000));
    }
  }

  /** Archives an image unless it is. Returns the size, or null if there was nothing to write. */
  async #writeBase(
    driver: ArchiveDriver,
    base: string,
    workspaceUuid: string,
    signal: AbortSignal,
  ): Promise<number | null> {
    if ((await this.#deps.repository.useBase(base, driver.format)) !== null) return null;
    const { isBuilt, sizeBytes: contentBytes } = await driver.describeBase(base);
    const what = { snapshotId: null, base, workspaceUuid: isBuilt ? workspaceUuid : null };
    const maxBytes = isBuilt ? maxArchiveBytes(contentBytes) : Infinity;
    const sizeBytes = await this.#write(what, null, maxBytes, driver.readBase(base, signal), signal);
    if (sizeBytes === null) throw new Error('others gave the archive up while this node was silent');
    return sizeBytes;
  }

  /** Returns the size, or null if it is not needed any more. Throws QUOTA_EXCEEDED, and ARCHIVE_TOO_LARGE beyond `maxBytes`. */
  async #write(
    what: Pick<NewArchive, 'snapshotId' | 'base' | 'workspaceUuid'>,
    snapshot: Snapshot | null,
    maxBytes: number,
    source: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<number | null> {
    const { blobs, repository, sealer, random, node, quotaLimits } = this.#deps;
    const id = random.bytes(ID_BYTES).toString('hex');
    const bytes = random.bytes(ARCHIVE_KEY_BYTES);
    const { format } = this.#need();
    const archive = { ...what, id, format, node, key: await sealer.wrap(bytes, archiveContext(id)) };
    const counted = snapshot?.workspaceUuid ?? what.workspaceUuid;
    const limits = counted === null ? null : await quotaLimits.readLimits(counted);
    const refusal = await repository.begin(archive, snapshot, snapshot?.sizeBytes ?? maxBytes, limits);
    if (refusal === 'gone') return null;
    if (refusal !== null) throw quotaExceeded(refusal);
    let sizeBytes = 0;
    try {
      let unpackedBytes = 0;
      const content = metered(source, (totalBytes) => (unpackedBytes = totalBytes));
      const sealed = metered(
        encodeArchive(content, { id, bytes }, (size) => random.bytes(size)),
        (totalBytes) => assertFits(totalBytes, maxBytes),
      );
      sizeBytes = await storeArchive(blobs, id, sealed, signal);
      const outcome = await repository.finish(archive, { sizeBytes, unpackedBytes });
      if (outcome === null) return sizeBytes;
      await this.#discard(id);
      if (outcome === 'base_gone') throw new Error('what the archive is based on was removed meanwhile');
      return null;
    } catch (error) {
      const isComplete = !(await this.#discard(id));
      if (isComplete) return sizeBytes;
      throw error;
    }
  }
}

/** What turns archives into sandboxes of this driver. */
function readerOf({ snapshots, saves }: SandboxDriver): Pick<ArchiveDriver, 'format' | 'create'> | undefined {
  return snapshots?.archives ?? saves;
}

/** Passes a stream on, after `see` had the size of it up to there. */
async function* metered(
  source: AsyncIterable<Uint8Array>,
  see: (totalBytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let totalBytes = 0;
  for await (const chunk of source) {
    totalBytes += chunk.length;
    see(totalBytes);
    yield chunk;
  }
}

function assertFits(sizeBytes: number, maxBytes: number): void {
  if (sizeBytes <= maxBytes) return;
  const reason = `it takes more than the ${maxBytes} bytes that count towards the quota`;
  throw sandboxErrors.ARCHIVE_TOO_LARGE({ details: { reason } });
}
