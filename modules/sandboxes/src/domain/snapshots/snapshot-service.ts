import type { Principal } from '@svc/access';
import { FairSlots } from '@svc/runtime';
import { admissionOf, quotaExceeded } from '../admission.ts';
import type { SandboxContext } from '../context.ts';
import { assertDiskRoom } from '../disk-room.ts';
import { newSnapshotId, isSnapshotId } from '../identifiers.ts';
import { thaw } from '../pausing.ts';
import type { Sandbox } from '../sandbox.ts';
import type { SandboxService } from '../sandbox-service.ts';
import type { SandboxDriver, SnapshotDriver } from '../driver.ts';
import { clusterDriverName, clusterOfDriver, type SandboxCluster } from '../clusters/sandbox-cluster.ts';
import { OfflineDriver } from '../clusters/offline-driver.ts';
import { offlineError } from '../clusters/cluster-drivers.ts';
import { sandboxErrors } from '../../errors.ts';
import type { FinishedState, Snapshot, SnapshotFilter, SnapshotPage, SnapshotRepository } from './snapshot.ts';

/** Copying is bound by the disk: more copies at once only slow down each other and everything else. */
const PARALLEL_COPIES = 3;
/** The remaining slots serve other owners, however long these copies take. */
const PARALLEL_COPIES_OF_OWNER = 2;
const PARALLEL_COPIES_OF_WORKSPACE = 1;
/** Streams from clusters cost memory here, and a cluster may send slowly for hours. */
const PARALLEL_STREAMS = 8;
const MAX_WAITING = 256;
const MAX_WAITING_OF_OWNER = 128;
const MAX_WAITING_OF_WORKSPACE = 32;

export interface SnapshotRequest {
  readonly workspaceUuid: string;
  readonly maker: Pick<Principal, 'kind' | 'id'>;
  readonly sandboxId: string;
  /** Defaults to the sandbox's name when null. */
  readonly name: string | null;
}

/**
 * Copies of sandbox files. A copy is complete or absent, and depends neither on its sandbox nor on sandboxes created
 * from it.
 */
export class SnapshotService {
  readonly #context: SandboxContext;
  readonly #service: SandboxService;
  readonly #repository: SnapshotRepository;
  /** Slots for copies, which copies of volumes use too. */
  readonly copies: FairSlots;
  /** Slots for copies of what runs in clusters, which delay no others. */
  readonly #streams: FairSlots;

  constructor(context: SandboxContext, service: SandboxService, repository: SnapshotRepository) {
    this.#context = context;
    this.#service = service;
    this.#repository = repository;
    const slots = (capacity: number): FairSlots =>
      new FairSlots({
        capacity,
        capacityPerKey: PARALLEL_COPIES_OF_WORKSPACE,
        capacityPerGroup: PARALLEL_COPIES_OF_OWNER,
        maxWaiting: MAX_WAITING,
        maxItemsPerKey: MAX_WAITING_OF_WORKSPACE,
        maxItemsPerGroup: MAX_WAITING_OF_OWNER,
        groupOf: context.quotaLimits.shareOf,
        refuse: () => sandboxErrors.SNAPSHOTS_BUSY({ headers: { 'retry-after': '10' } }),
      });
    this.copies = slots(PARALLEL_COPIES);
    this.#streams = slots(PARALLEL_STREAMS);
  }

  /**
   * `limit`: maximum number of snapshots of the caller. Throws QUOTA_EXCEEDED, SANDBOX_NOT_FOUND, SANDBOX_NOT_RUNNING.
   */
  create(request: SnapshotRequest, limit: number): Promise<Snapshot> {
    return this.#make(request, 'ready', limit);
  }

  /** Takes the snapshot that its owner chose for a drain of the node. It counts towards quotas, but no caller's limit. */
  createForDrain({ id, workspaceUuid, ownerId }: Sandbox): Promise<Snapshot> {
    const maker = { kind: 'user', id: ownerId } as const;
    return this.#make({ workspaceUuid, maker, sandboxId: id, name: null }, 'ready', null);
  }

  /**
   * Takes the snapshot with which another node continues a stopped sandbox, unless there is one. Returns whether every
   * node can use it.
   */
  async prepareMove(sandbox: Sandbox): Promise<boolean> {
    const { id, workspaceUuid, ownerId, node, startedAt } = sandbox;
    let isArchived: boolean | null = null;
    for (const each of await this.#repository.forMove(id, node)) {
      // One of an earlier drain lacks what the sandbox wrote since.
      if (startedAt !== null && each.createdAt < startedAt) await this.release(each);
      else isArchived = each.archivedAt !== null;
    }
    if (isArchived !== null) return isArchived;
    const maker = { kind: 'user', id: ownerId } as const;
    await this.#make({ workspaceUuid, maker, sandboxId: id, name: null }, 'move', null);
    return false;
  }

  /** Creates an unlisted snapshot. Call `release` after use. */
  createForFork(request: SnapshotRequest): Promise<Snapshot> {
    return this.#make(request, 'fork', null);
  }

  /** Deletes the snapshot. Its files stay until no new sandbox waits for them. */
  async release(snapshot: Snapshot): Promise<void> {
    this.#context.storage?.streamed.end(snapshot.id);
    await this.#repository.remove(snapshot.id);
    await this.#purge(snapshot);
    this.#context.storage?.wakeSweep();
  }

  async get(workspaceUuid: string, id: string): Promise<Snapshot> {
    const snapshot = isSnapshotId(id) ? await this.#repository.find(id) : null;
    if (snapshot === null || snapshot.workspaceUuid !== workspaceUuid) throw sandboxErrors.SNAPSHOT_NOT_FOUND();
    return snapshot;
  }

  /** The only node that can read a snapshot of this workspace; null if others can, too, or there is none. */
  async findNode(id: string, workspaceUuid: string): Promise<string | null> {
    const snapshot = isSnapshotId(id) ? await this.#repository.find(id) : null;
    if (snapshot?.workspaceUuid !== workspaceUuid) return null;
    const { storage, driver } = this.#context;
    if (snapshot.driver !== driver.name) return null;
    const archive = storage === null ? null : await storage.findFor(id, driver);
    return archive === null ? snapshot.node : null;
  }

  /**
   * Returns a snapshot that sandboxes can be created from in the cluster, or on this node if there is none. Throws
   * SNAPSHOT_ELSEWHERE and SNAPSHOT_UNSUPPORTED.
   */
  async usable(
    workspaceUuid: string,
    id: string,
    cluster: Pick<SandboxCluster, 'id' | 'name'> | null,
  ): Promise<Snapshot> {
    const snapshot = await this.get(workspaceUuid, id);
    const { node, archives, storage, driver: own } = this.#context;
    const driver: SandboxDriver =
      cluster === null ? own : new OfflineDriver(clusterDriverName(cluster.id), () => offlineError(cluster.name));
    const isOwn = snapshot.node === node && snapshot.driver === own.name;
    if (cluster === null && isOwn) return snapshot;
    const isReadable = storage !== null && (await storage.findFor(id, driver)) !== null;
    if (isReadable) return snapshot;
    if (clusterOfDriver(snapshot.driver) !== null || cluster !== null) this.#assertReadable(snapshot, driver);
    const remedy =
      archives === null || snapshot.driver !== own.name
        ? `send the request to node ${snapshot.node}`
        : 'it is not archived yet; try again, or see archive_error of the snapshot';
    throw sandboxErrors.SNAPSHOT_ELSEWHERE({ details: { node: snapshot.node, remedy } });
  }

  /** Throws SNAPSHOT_UNSUPPORTED unless the driver could read an archive of the snapshot. */
  #assertReadable({ driver: taken }: Snapshot, { name, snapshots, saves }: SandboxDriver): void {
    const { archives, driver: own } = this.#context;
    const format = taken === own.name && archives !== null ? own.snapshots?.archives?.format : undefined;
    if (format !== undefined && format === (saves ?? snapshots?.archives)?.format) return;
    const reason =
      clusterOfDriver(taken) === null
        ? `it was taken by the driver ${taken}, and ${name} reads only archives of pods`
        : `it was taken in a cluster, and the driver ${name} does not read snapshots of pods; create the sandbox in a connected cluster`;
    throw sandboxErrors.SNAPSHOT_UNSUPPORTED({ details: { reason } });
  }

  /** Number of copies waiting for a slot. */
  get waiting(): number {
    return this.copies.waiting + this.#streams.waiting;
  }

  list(workspaceUuid: string, filter: SnapshotFilter): Promise<SnapshotPage> {
    return this.#repository.list(workspaceUuid, filter);
  }

  /** Deletes a snapshot. It is gone for every caller when this resolves. Sandboxes created from it keep their files. */
  async remove(workspaceUuid: string, id: string): Promise<void> {
    const snapshot = await this.get(workspaceUuid, id);
    if (!(await this.#repository.remove(snapshot.id))) throw sandboxErrors.SNAPSHOT_NOT_FOUND();
    // Another node's files are removed by its own sweep.
    if (this.#context.holder.isHere(snapshot)) await this.#purge(snapshot);
    this.#context.storage?.wakeSweep();
  }

  /** After a start: forgets what the previous process did not complete of snapshots without files on this node. */
  async forgetUnfinished(): Promise<void> {
    const { storage, node } = this.#context;
    if (storage !== null) return storage.streamed.removeLeft('the platform was restarted');
    for (const snapshot of await this.#repository.ofNode(node, ['making', 'fork'])) {
      if (clusterOfDriver(snapshot.driver) !== null) await this.release(snapshot);
    }
  }

  /** Removes incomplete snapshots after a start, on the machine and in the records. */
  async reconcile(): Promise<void> {
    const { driver, node } = this.#context;
    if (driver.snapshots === undefined) return;
    for (const { id, driver: name } of await this.#repository.ofNode(node, ['making', 'fork'])) {
      if (clusterOfDriver(name) === null) await this.#repository.remove(id); // the others may be new
    }
    const known = await this.#repository.ofNode(node, ['ready', 'move', 'removed']);
    const ids = new Set(known.map(({ id }) => id));
    for (const id of await driver.snapshots.list()) if (!ids.has(id)) await driver.snapshots.remove(id);
    await this.sweep();
  }

  /** Deletes the files of removed snapshots that no sandbox waits for, and what could not be removed when it failed. */
  async sweep(): Promise<void> {
    await this.#context.storage?.streamed.removeLeft();
    for (const each of await this.#repository.ofNode(this.#context.node, ['removed'])) await this.#purge(each);
  }

  async #make(request: SnapshotRequest, state: FinishedState, limit: number | null): Promise<Snapshot> {
    const sandbox = await this.#service.held(request.workspaceUuid, request.sandboxId);
    const copy = this.#copierOf(sandbox, state);
    assertCopyable(sandbox);
    const draft = this.#draft(sandbox, request);
    const { storage } = this.#context;
    storage?.streamed.begin(draft.id);
    let made: Snapshot | null = null;
    try {
      await this.#record(draft, request, state, limit);
      made = await copy(draft).catch(async (error: unknown) => {
        await this.#repository.remove(draft.id);
        await this.#purge(draft);
        throw error;
      });
      return made;
    } finally {
      if (made?.state !== 'fork') storage?.streamed.end(draft.id);
    }
  }

  /** Throws SNAPSHOTS_UNAVAILABLE and SNAPSHOTS_UNSTORED. */
  #copierOf(sandbox: Sandbox, state: FinishedState): (draft: Snapshot) => Promise<Snapshot> {
    const { snapshots, saves, name } = this.#context.drivers.of(sandbox);
    if (snapshots !== undefined) {
      return async ({ id }) => {
        const sizeBytes = await this.copies.run(sandbox.workspaceUuid, () => this.#copy(snapshots, sandbox, id));
        const made = await this.#repository.finish(id, state, sizeBytes);
        if (made === null) throw sandboxErrors.SNAPSHOT_NOT_FOUND();
        if (state !== 'fork') this.#context.archives?.wake();
        return made;
      };
    }
    if (saves === undefined) throw sandboxErrors.SNAPSHOTS_UNAVAILABLE({ details: { driver: name } });
    const { storage } = this.#context;
    if (storage === null) throw sandboxErrors.SNAPSHOTS_UNSTORED();
    const isContended = (): boolean => this.#streams.isExhausted;
    return (draft) =>
      this.#stream(sandbox, (_, signal) => storage.streamed.take(saves, draft, state, isContended, signal));
  }

  /** Needs the sandbox's lock and a slot at once. Waits for each without the other, so that neither delays others. */
  async #stream<Result>(sandbox: Sandbox, take: Take<Result>): Promise<Result> {
    const { queue } = this.#context;
    for (;;) {
      const release = await this.#streams.acquire(sandbox.workspaceUuid);
      try {
        if (!queue.has(sandbox.id)) return await this.#whileFrozen(sandbox, take);
      } finally {
        release();
      }
      await queue.run(sandbox.id, async () => undefined);
    }
  }

  async #record(draft: Snapshot, { maker }: SnapshotRequest, state: FinishedState, limit: number | null) {
    const limits = await this.#context.quotaLimits.readLimits(draft.workspaceUuid);
    const refusal = await this.#repository.insert(draft, admissionOf(maker, limit, limits), state === 'ready');
    if (refusal === null) return;
    if (refusal.by === 'quota') throw quotaExceeded(refusal.breach);
    const details = { current: refusal.current, limit: limit ?? 0, resource: 'snapshots' };
    throw sandboxErrors.SNAPSHOT_QUOTA_EXCEEDED({ details });
  }

  #copy(copier: SnapshotDriver, sandbox: Sandbox, snapshotId: string): Promise<number> {
    return this.#whileFrozen(sandbox, async ({ id }, signal) => {
      await assertDiskRoom(this.#context.disk, await copier.sizeBytes({ sandbox: id }, signal));
      return (await copier.take(id, snapshotId, signal)).sizeBytes;
    });
  }

  /**
   * Holds the sandbox's lock, so that it is not stopped, started or deleted meanwhile. What is about to do that ends the
   * snapshot first, and then nothing in the sandbox must run again.
   */
  #whileFrozen<Result>({ id, workspaceUuid }: Sandbox, take: Take<Result>): Promise<Result> {
    const { queue, takes, live, clock } = this.#context;
    const takeNow = async (signal: AbortSignal): Promise<Result> => {
      const sandbox = await this.#service.get(workspaceUuid, id);
      assertCopyable(sandbox);
      signal.throwIfAborted();
      const end = live.begin(id, clock.nowMs()); // a sandbox is not idle while it is copied
      try {
        return await take(sandbox, signal);
      } catch (error) {
        // What took the copy may have died while the processes were frozen.
        if (!signal.aborted) await thaw(this.#context, sandbox);
        throw error;
      } finally {
        end();
      }
    };
    return takes.run(id, (signal) => queue.run(id, () => takeNow(signal), signal));
  }

  /** Archives are removed once no new sandbox waits for them. */
  async #purge({ id, driver: name }: Pick<Snapshot, 'id' | 'driver'>): Promise<void> {
    const { driver, log } = this.#context;
    try {
      if (clusterOfDriver(name) === null) {
        if (await this.#isNeeded(id)) return;
        await driver.snapshots?.remove(id);
      }
      await this.#repository.purge(id);
    } catch (error) {
      log.error({ err: error, snapshot: id }, 'a deleted snapshot could not be cleaned up yet');
    }
  }

  /**
   * A sandbox that failed or stopped after it received its copy restarts with that copy and no longer needs the
   * snapshot.
   */
  async #isNeeded(id: string): Promise<boolean> {
    for (const sandboxId of await this.#repository.awaitedBy(id)) {
      if (!(await this.#context.driver.isCreated(sandboxId))) return true;
    }
    return false;
  }

  #draft(sandbox: Sandbox, { maker, name }: SnapshotRequest): Snapshot {
    const { clock, random, node, driver } = this.#context;
    const { cluster } = sandbox;
    return {
      id: newSnapshotId(random.bytes),
      workspaceUuid: sandbox.workspaceUuid,
      ownerId: maker.id,
      node,
      driver: cluster === null ? driver.name : clusterDriverName(cluster.id),
      name: name ?? sandbox.name,
      sandboxId: sandbox.id,
      image: sandbox.image,
      diskMb: sandbox.resources.diskMb,
      sizeBytes: 0,
      state: 'making',
      createdAt: clock.now().toISOString(),
      egressRules: sandbox.egressRules,
      archivedAt: null,
      archiveError: null,
      template: sandbox.template,
    };
  }
}

/** Copies the files of a sandbox. The signal ends it where that may take long. */
type Take<Result> = (sandbox: Sandbox, signal: AbortSignal) => Promise<Result>;

/** A sandbox that never ran has no files yet. */
function assertCopyable({ status, startedAt }: Sandbox): void {
  if (status === 'creating' || startedAt === null) throw sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status } });
}
