import { isAppError } from '@svc/errors';
import type { QuotaLimits } from '@svc/quotas';
import { FairSlots, unlessAborted, type Clock, type DiskSpace, type Random } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import { sandboxErrors } from '../../errors.ts';
import { assertDiskRoomAhead } from '../disk-room.ts';
import type { SandboxDriver } from '../driver.ts';
import { newTemplateId } from '../identifiers.ts';
import type { TemplateRepository } from '../templates/template.ts';
import { diskBytesOf, type Archive, type ArchiveRepository } from './archive.ts';

/** Fewer than the image store unpacks at once, so that builds and pulls find a free place. */
const PARALLEL_FETCHES = 2;
/** The other one serves other owners. */
const PARALLEL_FETCHES_OF_OWNER = 1;
const MAX_WAITING = 1_024;
const MAX_WAITING_OF_WORKSPACE = 64;
const MAX_WAITING_OF_OWNER = 256;

export interface ArchivedImagesDeps {
  readonly repository: Pick<ArchiveRepository, 'findBase' | 'useBase'>;
  readonly layers: Pick<TemplateRepository, 'findLayer' | 'insertLayer' | 'removeLayer'>;
  readonly driver: SandboxDriver;
  readonly read: (archive: Archive) => AsyncIterable<Uint8Array>;
  readonly quotaLimits: QuotaLimits;
  readonly disk: DiskSpace;
  readonly node: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/**
 * Images of templates that other nodes built. A node fetches one when a sandbox or a build first needs it, and keeps it
 * like a layer of a build: as long as sandboxes have it, and some days without use.
 */
export class ArchivedImages {
  readonly #deps: ArchivedImagesDeps;
  readonly #slots: FairSlots;
  readonly #running = new Map<string, Promise<boolean>>();
  readonly #closed = new AbortController();

  constructor(deps: ArchivedImagesDeps) {
    this.#deps = deps;
    this.#slots = new FairSlots({
      capacity: PARALLEL_FETCHES,
      capacityPerGroup: PARALLEL_FETCHES_OF_OWNER,
      maxWaiting: MAX_WAITING,
      maxItemsPerKey: MAX_WAITING_OF_WORKSPACE,
      maxItemsPerGroup: MAX_WAITING_OF_OWNER,
      groupOf: deps.quotaLimits.shareOf,
      refuse: () => failed('too many images are being fetched; try again later'),
    });
  }

  /** An archive of the image that this node can read; null if there is none. */
  async find(digest: string): Promise<Archive | null> {
    const format = this.#deps.driver.snapshots?.archives?.format;
    return format === undefined ? null : this.#deps.repository.findBase(digest, format);
  }

  /** Keeps the archive of an image, if there is one, for an hour from now on. */
  async use(digest: string): Promise<void> {
    const format = this.#deps.driver.snapshots?.archives?.format;
    if (format !== undefined) await this.#deps.repository.useBase(digest, format);
  }

  /** The archive of an image that this machine lacks; null if it has the image, or there is no archive. */
  async missing(digest: string): Promise<Archive | null> {
    const { builds } = this.#deps.driver;
    return builds === undefined || (await builds.find(digest)) !== null ? null : this.find(digest);
  }

  /**
   * Fetches an image unless this machine has it. Callers that need the same one share the work, which goes on when one of
   * them gives up. Returns false if there is no archive. Throws IMAGE_PULL_FAILED and HOST_DISK_FULL.
   */
  async provide(digest: string, workspaceUuid: string, signal: AbortSignal): Promise<boolean> {
    const { builds } = this.#deps.driver;
    if (builds === undefined) return false;
    if ((await builds.find(digest)) !== null) return true;
    const fetching = this.#running.get(digest) ?? this.#begin(digest, workspaceUuid);
    return unlessAborted(fetching, signal, () => failed('it is still being fetched from its archive; try again later'));
  }

  /**
   * The same for what the snapshot of a sandbox is based on, ahead of its files. An image of the catalog is left to the driver,
   * which keeps it only as long as a sandbox has it.
   */
  async provideBase(digest: string, workspaceUuid: string, signal: AbortSignal): Promise<void> {
    const archive = await this.missing(digest);
    if (archive !== null && archive.workspaceUuid !== null) await this.provide(digest, workspaceUuid, signal);
  }

  /** Ends fetches and waits for them. */
  async close(): Promise<void> {
    this.#closed.abort(failed('the platform is shutting down'));
    await Promise.allSettled(this.#running.values());
  }

  #begin(digest: string, workspaceUuid: string): Promise<boolean> {
    const work = (): Promise<boolean> => this.#fetch(digest, workspaceUuid);
    const fetching = this.#slots
      .run(workspaceUuid, work, this.#closed.signal)
      .finally(() => this.#running.delete(digest));
    fetching.catch(() => undefined); // reported to the callers
    this.#running.set(digest, fetching);
    return fetching;
  }

  async #fetch(digest: string, workspaceUuid: string): Promise<boolean> {
    const { repository, layers, driver, read, disk, clock, log } = this.#deps;
    const { builds, snapshots } = driver;
    const archives = snapshots?.archives;
    if (builds === undefined || archives === undefined) return false;
    const archive = await repository.useBase(digest, archives.format);
    if (archive === null) return false;
    await assertDiskRoomAhead(disk, diskBytesOf(archive));
    const startedAtMs = clock.nowMs();
    const id = await this.#layerOf(archive, digest, workspaceUuid);
    try {
      // First, so that the image stays from its first moment on.
      await builds.hold(digest, id);
      await archives.addBase(digest, read(archive), this.#closed.signal);
    } catch (error) {
      await layers.removeLayer(id);
      await builds.remove(id);
      throw error;
    }
    const facts = { image: digest, bytes: archive.sizeBytes, duration_ms: clock.nowMs() - startedAtMs };
    log.info(facts, 'the image of a template was fetched from its archive');
    return true;
  }

  /**
   * The layer that is to hold an image, and counts towards the quota as that of a build does. Its row exists before its file,
   * which the next start would remove otherwise.
   */
  async #layerOf(archive: Archive, digest: string, workspaceUuid: string): Promise<string> {
    const { layers, quotaLimits, node, clock, random } = this.#deps;
    const createdAt = clock.now().toISOString();
    const cacheKey = `image ${digest}`;
    const known = await layers.findLayer(workspaceUuid, node, cacheKey, createdAt);
    if (known !== null) return known.id; // a crash came before the image
    const id = newTemplateId(random.bytes);
    const layer = { id, workspaceUuid, node, cacheKey, digest, sizeBytes: diskBytesOf(archive), createdAt };
    try {
      await layers.insertLayer(layer, await quotaLimits.readLimits(workspaceUuid));
    } catch (error) {
      throw isAppError(error) && error.code === 'QUOTA_EXCEEDED' ? failed(error.message, error) : error;
    }
    return id;
  }
}

function failed(reason: string, cause?: unknown): Error {
  return sandboxErrors.IMAGE_PULL_FAILED({ details: { image: 'of the template', reason }, cause });
}
