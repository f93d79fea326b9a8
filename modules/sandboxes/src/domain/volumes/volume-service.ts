import type { Principal } from '@svc/access';
import type { FairSlots } from '@svc/runtime';
import { sandboxErrors } from '../../errors.ts';
import { quotaExceeded } from '../admission.ts';
import type { SandboxContext } from '../context.ts';
import { assertDiskRoom } from '../disk-room.ts';
import type { VolumeDriver } from '../driver.ts';
import { isVolumeId, newVolumeId, newVolumeSnapshotId } from '../identifiers.ts';
import type { VolumeMounter } from '../ports.ts';
import type { VolumeMount } from '../sandbox.ts';
import type { ForkCopy, NoteCopy } from '../snapshots/fork-copy.ts';
import { assertVolumesAvailable, mountPathFault, type Volume, type VolumeFilter, type VolumeKind } from './volume.ts';
import type { VolumePage, VolumeRepository } from './volume.ts';
import type { VolumeServers } from './volume-servers.ts';

const EMPTY_VOLUME_BYTES = 8 * 1024 * 1024;

export interface VolumeServiceDeps {
  readonly context: SandboxContext;
  readonly repository: VolumeRepository;
  readonly servers: Pick<VolumeServers, 'release' | 'releaseIdle'>;
  /** Slots for copies, shared with the snapshots of sandboxes. */
  readonly copies: FairSlots;
  readonly defaultSizeMb: number;
  readonly maximumSizeMb: number;
}

export interface NewVolume {
  readonly workspaceUuid: string;
  readonly maker: Pick<Principal, 'kind' | 'id'>;
  readonly name: string;
  /** Null: that of the source, or the default. */
  readonly sizeMb: number | null;
  /** Snapshot or volume to copy. */
  readonly source: Volume | null;
}

/** A volume that a sandbox shall mount, by name. */
export interface WantedMount {
  readonly name: string;
  readonly path: string;
  readonly readOnly: boolean;
}

/** File systems that outlive sandboxes, and their snapshots. The caller authorizes access to the workspace. */
export class VolumeService {
  readonly #deps: VolumeServiceDeps;

  constructor(deps: VolumeServiceDeps) {
    this.#deps = deps;
  }

  /** Throws VOLUMES_UNAVAILABLE, VOLUME_EXISTS, QUOTA_EXCEEDED, HOST_DISK_FULL and INVALID_FIELD. */
  async create(request: NewVolume): Promise<Volume> {
    const driver = assertVolumesAvailable(this.#deps.context.driver);
    await this.#deps.context.recovery.wait();
    this.#deps.context.drain.assertTakesSandboxes(); // they could not mount it
    const { source } = request;
    const sizeMb = this.#sizeOf(request);
    await assertDiskRoom(this.#deps.context.disk, EMPTY_VOLUME_BYTES + (await this.#copiedBytes(driver, source)));
    const draft = this.#draft('volume', request, sizeMb, source?.id ?? null);
    return this.#make(draft, async () => {
      if (source === null) await driver.create(draft.id, sizeMb);
      else await this.#copy(driver, source, draft.id);
      if (source !== null && sizeMb > source.sizeMb) await driver.resize(draft.id, sizeMb);
      return 0;
    });
  }

  /** Throws VOLUME_NOT_FOUND. */
  async get(workspaceUuid: string, name: string): Promise<Volume> {
    const volume = await this.#deps.repository.find(workspaceUuid, name);
    if (volume === null) throw sandboxErrors.VOLUME_NOT_FOUND({ details: { name } });
    return volume;
  }

  /** Like `get`, by id. */
  async getById(workspaceUuid: string, id: string): Promise<Volume> {
    const volume = await this.#deps.repository.findById(id);
    if (volume?.kind !== 'volume' || volume.workspaceUuid !== workspaceUuid) {
      throw sandboxErrors.VOLUME_NOT_FOUND({ details: { name: id } });
    }
    return volume;
  }

  list(workspaceUuid: string, filter: VolumeFilter): Promise<VolumePage> {
    return this.#deps.repository.list(workspaceUuid, filter);
  }

  /** Sandboxes that mount the volumes, stopped ones too. */
  async mounters(volumes: readonly Pick<Volume, 'id'>[]): Promise<readonly VolumeMounter[]> {
    const found = await this.#deps.context.repository.mounters(volumes.map(({ id }) => id));
    return found.filter(({ isDeleted }) => !isDeleted);
  }

  /** Like `get`, for a volume whose files this node can reach. Throws VOLUME_ELSEWHERE and VOLUMES_UNAVAILABLE. */
  async usable(workspaceUuid: string, name: string): Promise<Volume> {
    assertVolumesAvailable(this.#deps.context.driver);
    return this.#held(workspaceUuid, name);
  }

  /** The node of a volume of this workspace; null if there is none. */
  async findNode(name: string, workspaceUuid: string): Promise<string | null> {
    return (await this.#deps.repository.find(workspaceUuid, name))?.node ?? null;
  }

  /** Makes a volume larger. Throws INVALID_FIELD, VOLUME_BUSY, VOLUME_MOUNTED and QUOTA_EXCEEDED. */
  async resize(workspaceUuid: string, name: string, sizeMb: number): Promise<Volume> {
    const driver = assertVolumesAvailable(this.#deps.context.driver);
    const { repository, context } = this.#deps;
    const volume = await this.#held(workspaceUuid, name);
    this.#assertSize(sizeMb, volume.sizeMb);
    const resized = await repository.resize(volume.id, sizeMb, await context.quotaLimits.readLimits(workspaceUuid));
    if ('breach' in resized) throw quotaExceeded(resized.breach);
    if (resized.volume === null) throw sandboxErrors.VOLUME_BUSY({ details: { name } });
    try {
      await this.#deps.servers.releaseIdle(volume.id); // some machines cannot grow a mounted volume
      await driver.resize(volume.id, sizeMb);
    } catch (error) {
      await repository.endResize(volume.id, volume.sizeMb);
      throw error;
    }
    return (await repository.endResize(volume.id, sizeMb)) ?? this.get(workspaceUuid, name);
  }

  /** Deletes a volume; its snapshots stay. Throws VOLUME_IN_USE. On any node: the volume's own removes the files. */
  async remove(workspaceUuid: string, name: string): Promise<void> {
    const volume = await this.get(workspaceUuid, name);
    if (!(await this.#remove(volume))) throw sandboxErrors.VOLUME_NOT_FOUND({ details: { name } });
  }

  /** Copies a volume, also while a sandbox writes to it; its processes freeze for the copy. */
  async createSnapshot(
    workspaceUuid: string,
    volumeName: string,
    maker: NewVolume['maker'],
    name: string | null,
  ): Promise<Volume> {
    const driver = assertVolumesAvailable(this.#deps.context.driver);
    const volume = await this.#held(workspaceUuid, volumeName);
    await assertDiskRoom(this.#deps.context.disk, await driver.sizeBytes(volume.id));
    const wanted = { workspaceUuid, maker, name: name ?? volume.name };
    const draft = this.#draft('snapshot', wanted, volume.sizeMb, volume.id);
    return this.#make(draft, () => this.#copy(driver, volume, draft.id));
  }

  /** Throws VOLUME_SNAPSHOT_NOT_FOUND. */
  async getSnapshot(workspaceUuid: string, id: string): Promise<Volume> {
    const found = await this.#deps.repository.findById(id);
    if (found?.kind !== 'snapshot' || found.workspaceUuid !== workspaceUuid) {
      throw sandboxErrors.VOLUME_SNAPSHOT_NOT_FOUND({ details: { id } });
    }
    return found;
  }

  /** Like `getSnapshot`, for a copy on this node. Throws VOLUME_ELSEWHERE. */
  async usableSnapshot(workspaceUuid: string, id: string): Promise<Volume> {
    const snapshot = await this.getSnapshot(workspaceUuid, id);
    this.#assertHere(snapshot);
    return snapshot;
  }

  async removeSnapshot(workspaceUuid: string, id: string): Promise<void> {
    const snapshot = await this.getSnapshot(workspaceUuid, id);
    if (!(await this.#remove(snapshot))) throw sandboxErrors.VOLUME_SNAPSHOT_NOT_FOUND({ details: { id } });
  }

  /** Finds the volumes of a create request. Throws UNKNOWN_VOLUME, VOLUME_ELSEWHERE and INVALID_FIELD. */
  async resolve(workspaceUuid: string, wanted: readonly WantedMount[]): Promise<readonly VolumeMount[]> {
    const mounts: VolumeMount[] = [];
    for (const [index, { name, path, readOnly }] of wanted.entries()) {
      const field = `volumes[${index}]`;
      const fault = mountPathFault(path, mounts);
      if (fault !== null) throw sandboxErrors.INVALID_FIELD({ details: { field: `${field}.path`, reason: fault } });
      if (mounts.some((mount) => mount.name === name)) {
        const reason = `${name} is mounted twice`;
        throw sandboxErrors.INVALID_FIELD({ details: { field: `${field}.name`, reason } });
      }
      const volume = await this.#deps.repository.find(workspaceUuid, name);
      if (volume === null) throw sandboxErrors.UNKNOWN_VOLUME({ details: { field: `${field}.name`, name } });
      this.#assertHere(volume);
      mounts.push({ volumeId: volume.id, name, path, readOnly });
    }
    return mounts;
  }

  /** Copies what the fork of a sandbox writes to. Volumes that it only reads are shared. Notes each copy before it exists. */
  async copyForFork(
    workspaceUuid: string,
    maker: NewVolume['maker'],
    mounts: readonly VolumeMount[],
    note: NoteCopy,
  ): Promise<readonly VolumeMount[]> {
    const copies: VolumeMount[] = [];
    try {
      for (const mount of mounts) {
        if (mount.readOnly) {
          copies.push(mount);
          continue;
        }
        const source = await this.#held(workspaceUuid, mount.name);
        const id = newVolumeId(this.#deps.context.random.bytes);
        const name = `${mount.name.slice(0, 55)}-${id.slice(-8)}`;
        await note({ kind: 'volume', name, sourceName: mount.name });
        const copy = await this.create({ workspaceUuid, maker, name, sizeMb: null, source });
        copies.push({ ...mount, volumeId: copy.id, name: copy.name });
      }
      return copies;
    } catch (error) {
      await this.removeUnused(workspaceUuid, copies);
      throw error;
    }
  }

  /** Deletes a volume that a fork which failed made or was about to make, unless a sandbox mounts it. */
  async removeCopy({ workspaceUuid, name }: Omit<ForkCopy, 'id' | 'kind'>): Promise<void> {
    const volume = await this.#deps.repository.find(workspaceUuid, name);
    if (volume === null || volume.sourceId === null || !isVolumeId(volume.sourceId)) return;
    await this.removeUnused(workspaceUuid, [{ volumeId: volume.id, name, path: '', readOnly: false }]);
  }

  /** Those of the mounts whose volumes are copies of other volumes, as only forks have. */
  async forksOf(workspaceUuid: string, mounts: readonly VolumeMount[]): Promise<readonly VolumeMount[]> {
    const volumes = await Promise.all(mounts.map(({ volumeId }) => this.getById(workspaceUuid, volumeId)));
    const isFork = ({ sourceId }: Volume) => sourceId !== null && isVolumeId(sourceId);
    return mounts.filter((_, index) => volumes[index] !== undefined && isFork(volumes[index]));
  }

  /** Deletes the volumes that a deleted sandbox wrote to, unless another one mounts them. Returns the names of those. */
  async removeUnused(workspaceUuid: string, mounts: readonly VolumeMount[]): Promise<readonly string[]> {
    const removed: string[] = [];
    for (const { volumeId, name } of mounts.filter(({ readOnly }) => !readOnly)) {
      try {
        if (await this.#remove(await this.getById(workspaceUuid, volumeId))) removed.push(name);
      } catch (error) {
        this.#deps.context.log.warn({ err: error, volume: volumeId }, 'a volume of a deleted sandbox was kept');
      }
    }
    return removed;
  }

  /** After a start: completes resizes, and removes what is incomplete or has no record. */
  async reconcile(): Promise<void> {
    const { repository, context } = this.#deps;
    const { volumes: driver } = context.driver;
    if (driver === undefined) return;
    const found = await repository.ofNode(context.node, ['making', 'ready', 'resizing', 'removed']);
    for (const volume of found) {
      if (volume.state === 'making') await this.#discardDraft(volume);
      if (volume.state === 'resizing') await this.#completeResize(driver, volume);
    }
    const known = new Set(found.map(({ id }) => id));
    for (const id of await driver.list()) if (!known.has(id)) await driver.remove(id);
    await this.sweep();
  }

  /** Deletes the files of removed volumes. */
  async sweep(): Promise<void> {
    const { repository, context } = this.#deps;
    for (const { id } of await repository.ofNode(context.node, ['removed'])) await this.#purge(id);
  }

  async #completeResize(driver: VolumeDriver, { id, sizeMb }: Volume): Promise<void> {
    const { repository, context } = this.#deps;
    await driver.resize(id, sizeMb).catch((error: unknown) => {
      context.log.error({ err: error, volume: id }, 'a volume is smaller than recorded; resize it again');
    });
    await repository.endResize(id, sizeMb); // the same resize, repeated, completes it
  }

  /** Records the draft, does the work, which returns the size, and completes the record; all or nothing. */
  async #make(draft: Volume, work: () => Promise<number>): Promise<Volume> {
    const { repository, context } = this.#deps;
    await repository.insert(draft, await context.quotaLimits.readLimits(draft.workspaceUuid));
    try {
      const made = await repository.finish(draft.id, await work());
      if (made === null) throw sandboxErrors.VOLUME_BUSY({ details: { name: draft.name } });
      return made;
    } catch (error) {
      await this.#discardDraft(draft);
      throw error;
    }
  }

  async #discardDraft(draft: Volume): Promise<void> {
    const { repository, context } = this.#deps;
    await repository.remove(draft, await context.quotaLimits.readLimits(draft.workspaceUuid));
    await this.#purge(draft.id);
  }

  #copy(driver: VolumeDriver, { id, workspaceUuid }: Volume, targetId: string): Promise<number> {
    return this.#deps.copies.run(workspaceUuid, async () => {
      const { repository, queue } = this.#deps.context;
      const mounters = await repository.mounters([id]);
      const writer = mounters.find(({ isActive, readOnly }) => isActive && !readOnly);
      const copy = async (): Promise<number> => {
        const copied = driver.copy(id, targetId);
        await copied.catch(() => this.#deps.servers.release(id)); // a copier that died leaves its helper frozen
        return (await copied).sizeBytes;
      };
      if (writer === undefined) return copy();
      // Holds the sandbox's lock, so that it is not paused, resumed or stopped meanwhile.
      return queue.run(writer.sandboxId, () => this.#copyOrResume(writer.sandboxId, copy));
    });
  }

  /** The copier may die while the processes are frozen. */
  async #copyOrResume(sandboxId: string, copy: () => Promise<number>): Promise<number> {
    const { repository, driver, log } = this.#deps.context;
    try {
      return await copy();
    } catch (error) {
      const sandbox = await repository.find(sandboxId);
      if (sandbox?.status === 'running' && sandbox.pausedAt === null) {
        await driver.resume(sandboxId).catch((cause: unknown) => log.error({ err: cause }, 'resume failed'));
      }
      throw error;
    }
  }

  async #remove(volume: Volume): Promise<boolean> {
    const { repository, context } = this.#deps;
    const limits = await context.quotaLimits.readLimits(volume.workspaceUuid);
    if (!(await repository.remove(volume, limits))) return false;
    // Another node's files are removed by its own sweep.
    if (volume.node === context.node) await this.#purge(volume.id);
    return true;
  }

  async #purge(id: string): Promise<void> {
    const { repository, context } = this.#deps;
    try {
      await this.#deps.servers.release(id);
      await context.driver.volumes?.remove(id);
      await repository.purge(id);
    } catch (error) {
      context.log.error({ err: error, volume: id }, 'a deleted volume could not be cleaned up yet');
    }
  }

  async #copiedBytes(driver: VolumeDriver, source: Volume | null): Promise<number> {
    return source === null ? 0 : driver.sizeBytes(source.id);
  }

  async #held(workspaceUuid: string, name: string): Promise<Volume> {
    const volume = await this.get(workspaceUuid, name);
    this.#assertHere(volume);
    return (await this.#deps.context.recovery.wait()) ? this.get(workspaceUuid, name) : volume;
  }

  #assertHere({ node, driver, name }: Volume): void {
    const { context } = this.#deps;
    if (node !== context.node || driver !== context.driver.name) {
      throw sandboxErrors.VOLUME_ELSEWHERE({ details: { name, node } });
    }
  }

  #sizeOf({ sizeMb, source }: NewVolume): number {
    const wanted = sizeMb ?? source?.sizeMb ?? this.#deps.defaultSizeMb;
    this.#assertSize(wanted, source?.sizeMb ?? 0);
    return wanted;
  }

  #assertSize(sizeMb: number, atLeastMb: number): void {
    const { maximumSizeMb } = this.#deps;
    const field = 'size_mb';
    if (sizeMb < atLeastMb) {
      const reason = `must be at least ${atLeastMb}, because volumes only grow`;
      throw sandboxErrors.INVALID_FIELD({ details: { field, reason } });
    }
    // One from a time with a larger maximum is still copied in its size.
    if (sizeMb > Math.max(maximumSizeMb, atLeastMb)) {
      throw sandboxErrors.INVALID_FIELD({ details: { field, reason: `at most ${maximumSizeMb} is allowed` } });
    }
  }

  #draft(
    kind: VolumeKind,
    { workspaceUuid, maker, name }: Pick<NewVolume, 'workspaceUuid' | 'maker' | 'name'>,
    sizeMb: number,
    sourceId: string | null,
  ): Volume {
    const { clock, random, node, driver } = this.#deps.context;
    return {
      id: kind === 'volume' ? newVolumeId(random.bytes) : newVolumeSnapshotId(random.bytes),
      kind,
      workspaceUuid,
      ownerId: maker.id,
      node,
      driver: driver.name,
      name,
      sizeMb,
      sizeBytes: 0,
      sourceId,
      state: 'making',
      createdAt: clock.now().toISOString(),
    };
  }
}
