import { limitIn, QUOTA_SCOPES } from '@svc/quotas';
import type { IsolationPolicy } from './isolation.ts';
import type { Isolation } from './driver.ts';
import { isAppError } from '@svc/errors';
import { sandboxErrors } from '../errors.ts';
import { sandboxQuotas } from '../quotas.ts';
import type { ImageCatalog } from './images/catalog.ts';
import { assertPullable, type ImageService } from './images/platform-images.ts';
import { admissionOf, callerLimitReached, quotaExceeded, type Admission } from './admission.ts';
import type { Boots } from './boots.ts';
import type { SandboxContext } from './context.ts';
import { assertDiskRoom } from './disk-room.ts';
import type { DrivenSandbox } from './clusters/cluster-drivers.ts';
import { offlineError } from './clusters/cluster-drivers.ts';
import { OfflineDriver } from './clusters/offline-driver.ts';
import { clusterDriverName } from './clusters/sandbox-cluster.ts';
import type { HelperConnection } from './helper/helper-connection.ts';
import { createDraft } from './create-draft.ts';
import { cleanUp, removeLeftover, stop } from './ending.ts';
import { isSandboxId } from './identifiers.ts';
import type { InsertOutcome, RepeatedRequest, SandboxFilter, SandboxPage } from './ports.ts';
import { pause, resume } from './pausing.ts';
import { RunningRoom } from './running-room.ts';
import { changeEgress, changeRecord, type RecordChange } from './sandbox-changes.ts';
import type { Sandbox, SandboxStatus } from './sandbox.ts';
import { waitForStatus } from './wait-for-status.ts';
import type { WarmClaim, WarmClaims } from './warm-claims.ts';
import { assertSupported, hashOf, type CreateRequest } from './create-request.ts';

const BY_USER = 'STOPPED_BY_USER';
const EMPTY_DISK_BYTES = 8 * 1024 * 1024;
const NOT_SETTLED: readonly SandboxStatus[] = ['creating'];
const ANY_STATUS: readonly SandboxStatus[] = ['creating', 'running', 'stopped', 'error'];

export interface ServiceOptions {
  /** Maximum number of sandboxes running on this node. */
  readonly maxRunning: number;
  readonly isolation: IsolationPolicy;
  readonly imageService: ImageService;
}

/** Lifecycle of sandboxes, as the contract specifies. The caller authorizes access to the workspace. */
export class SandboxService {
  readonly #context: SandboxContext;
  readonly #boots: Boots;
  readonly #catalog: ImageCatalog;
  readonly #warm: WarmClaims;
  readonly #room: RunningRoom;
  readonly #isolation: IsolationPolicy;
  readonly #imageService: ImageService;
  readonly #removals = new Map<string, Promise<void>>();

  constructor(context: SandboxContext, boots: Boots, catalog: ImageCatalog, warm: WarmClaims, options: ServiceOptions) {
    this.#context = context;
    this.#boots = boots;
    this.#catalog = catalog;
    this.#warm = warm;
    const { live, quotaLimits } = context;
    this.#room = new RunningRoom({ live, boots, quotaLimits, maxRunning: options.maxRunning });
    this.#isolation = options.isolation;
    this.#imageService = options.imageService;
  }

  /**
   * Resolves once the sandbox runs or has failed, at the latest after `waitMs`. A known idempotency key returns the
   * existing sandbox.
   */
  async create(request: CreateRequest, waitMs: number, signal: AbortSignal): Promise<Sandbox> {
    this.#assertPossible(request);
    if (request.cluster === null) {
      this.assertTakesSandboxes();
      await assertDiskRoom(this.#context.disk, await this.#newDiskBytes(request));
    }
    const { outcome, sandbox } = await this.#insert(request);
    const { clock } = this.#context;
    if (outcome.outcome === 'repeated') return this.#repeat(request.workspaceUuid, outcome, waitMs, signal);
    return waitForStatus(this.#context, sandbox, NOT_SETTLED, clock, waitMs, signal);
  }

  /** Records the sandbox and begins its start, unless the request is a repetition. */
  async #insert(request: CreateRequest): Promise<{ readonly outcome: InsertOutcome; readonly sandbox: Sandbox }> {
    const leaveRoom = await this.reserveRoom(request);
    try {
      const limits = await this.#context.quotaLimits.readLimits(request.workspaceUuid);
      const admission = admissionOf(request.maker, request.limit, limits);
      const claim = this.#warm.claim(request, createDraft(request, this.#context));
      const { sandbox } = claim;
      const repeated =
        request.idempotencyKey === null ? null : { key: request.idempotencyKey, requestHash: hashOf(request) };
      const outcome = await this.#record(claim, admission, repeated);
      refuse(outcome, sandbox, request.limit);
      if (outcome.outcome === 'inserted') await this.#begin(claim);
      return { outcome, sandbox };
    } finally {
      leaveRoom();
    }
  }

  /** The start of a sandbox of a cluster whose tunnel is elsewhere begins there. */
  async #begin(claim: WarmClaim): Promise<void> {
    const { holder, clusterChoice } = this.#context;
    if (holder.isHere(claim.sandbox)) this.#warm.begin(claim);
    else await clusterChoice.requestStart(claim.sandbox);
  }

  /** Throws NODE_DRAINING while this node is drained. */
  assertTakesSandboxes(): void {
    this.#context.drain.assertTakesSandboxes();
  }

  /** Whether this node could start a new sandbox of the workspace now. */
  async hasRoom(workspaceUuid: string): Promise<boolean> {
    const { drain, driver, disk } = this.#context;
    if (drain.isDraining || !driver.status().available) return false;
    try {
      await assertDiskRoom(disk, 0);
      const leave = await this.#room.reserve(workspaceUuid);
      leave();
      return true;
    } catch (error) {
      if (isAppError(error)) return false;
      throw error;
    }
  }

  /** Reserves room for a start on this node, until the function is called. Throws NO_CAPACITY. */
  async reserveRoom({ workspaceUuid, cluster }: Pick<Sandbox, 'workspaceUuid' | 'cluster'>): Promise<() => void> {
    return cluster === null ? this.#room.reserve(workspaceUuid) : () => undefined;
  }

  /** Throws unless this node can start a sandbox now, which takes so much disk. Room is reserved apart. */
  async assertCanStart(
    sandbox: Pick<Sandbox, 'isolation' | 'workspaceUuid' | 'cluster'>,
    diskBytes = 0,
  ): Promise<void> {
    const { isolation, cluster } = sandbox;
    if (cluster !== null) return this.#context.clusterChoice.assertAllowed(sandbox);
    this.#assertDriver();
    this.#assertIsolation(isolation);
    this.assertTakesSandboxes();
    await assertDiskRoom(this.#context.disk, diskBytes);
  }

  /** Initial disk usage. The disk is sparse, or a copy of a snapshot. */
  async #newDiskBytes({ snapshotId }: CreateRequest): Promise<number> {
    const copied = snapshotId === null ? 0 : await this.#context.driver.snapshots?.sizeBytes({ snapshot: snapshotId });
    return EMPTY_DISK_BYTES + (copied ?? 0);
  }

  async #record(claim: WarmClaim, admission: Admission, repeated: RepeatedRequest | null): Promise<InsertOutcome> {
    const inserting = this.#context.repository.insert(claim.sandbox, admission, repeated);
    inserting.catch(() => this.#warm.abandon(claim));
    const outcome = await inserting;
    if (outcome.outcome !== 'inserted') this.#warm.release(claim);
    return outcome;
  }

  /**
   * Throws SANDBOX_NOT_FOUND for ids that are malformed, unknown, deleted or of another workspace, without revealing
   * which.
   */
  async get(workspaceUuid: string, id: string): Promise<Sandbox> {
    const sandbox = isSandboxId(id) ? await this.#context.repository.find(id) : null;
    if (sandbox === null || sandbox.workspaceUuid !== workspaceUuid) throw sandboxErrors.SANDBOX_NOT_FOUND();
    return sandbox;
  }

  /** Like `get`, for operations that need its processes or its disk. Throws SANDBOX_ELSEWHERE. */
  async held(workspaceUuid: string, id: string): Promise<Sandbox> {
    const { holder, drivers, recovery } = this.#context;
    const sandbox = await this.get(workspaceUuid, id);
    await holder.assertHere(sandbox);
    drivers.assertReachable(sandbox);
    return (await recovery.wait(sandbox)) ? this.get(workspaceUuid, id) : sandbox;
  }

  /** The connection to a sandbox of this node, for a use of it. Throws SANDBOX_NOT_RUNNING and CLUSTER_OFFLINE. */
  async connectionTo(sandbox: Pick<Sandbox, 'id' | 'status' | 'cluster'>): Promise<HelperConnection> {
    const { drivers, live, recovery } = this.#context;
    const { id, status } = sandbox;
    drivers.assertReachable(sandbox);
    await recovery.wait(sandbox);
    const connection = status === 'running' ? live.findConnection(id) : null;
    if (connection === null) throw sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status } });
    return connection;
  }

  /** For callers admitted to this sandbox directly, such as with a ticket. Throws SANDBOX_NOT_FOUND. */
  async byId(id: string): Promise<Sandbox> {
    const sandbox = isSandboxId(id) ? await this.#context.repository.find(id) : null;
    if (sandbox === null) throw sandboxErrors.SANDBOX_NOT_FOUND();
    return sandbox;
  }

  /** Resolves when a pending start has ended or the time is up. */
  async settled(workspaceUuid: string, id: string, waitMs: number, signal: AbortSignal): Promise<Sandbox> {
    const sandbox = await this.get(workspaceUuid, id);
    return waitForStatus(this.#context, sandbox, NOT_SETTLED, this.#context.clock, waitMs, signal);
  }

  /** Long poll: resolves when the sandbox has reached the state or failed, or the time is up. */
  async waitFor(
    workspaceUuid: string,
    id: string,
    wanted: SandboxStatus,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<Sandbox> {
    const sandbox = await this.get(workspaceUuid, id);
    const others = ANY_STATUS.filter((status) => status !== wanted && status !== 'error');
    return waitForStatus(this.#context, sandbox, others, this.#context.clock, waitMs, signal);
  }

  list(workspaceUuid: string, filter: SandboxFilter): Promise<SandboxPage> {
    return this.#context.repository.list(workspaceUuid, filter);
  }

  /** Maximum number of sandboxes of a caller in this workspace: the lowest of the caller's limit and the quotas. */
  async limitFor(workspaceUuid: string, callerLimit: number): Promise<number> {
    const limits = await this.#context.quotaLimits.readLimits(workspaceUuid);
    const quotas = QUOTA_SCOPES.map((scope) => limitIn(limits, scope, sandboxQuotas.sandboxes));
    return Math.min(callerLimit, ...quotas.filter((limit) => limit !== null));
  }

  /**
   * Starts a sandbox from `stopped`, or from `error` if its files are kept. A running sandbox is unchanged; a paused
   * one is resumed. Throws SNAPSHOT_UNDER_WAY while its files are transferred out of its cluster, which may take hours.
   */
  async start(workspaceUuid: string, id: string, waitMs: number, signal: AbortSignal): Promise<Sandbox> {
    const sandbox = await this.held(workspaceUuid, id);
    const { clock } = this.#context;
    if (sandbox.status === 'running') return sandbox.pausedAt === null ? sandbox : resume(this.#context, sandbox);
    const current = sandbox.status === 'creating' ? sandbox : await this.#restart(sandbox);
    return waitForStatus(this.#context, current, NOT_SETTLED, clock, waitMs, signal);
  }

  async #restart(sandbox: Sandbox): Promise<Sandbox> {
    const { repository, watch, clock, quotaLimits } = this.#context;
    const { id, workspaceUuid } = sandbox;
    await this.assertCanStart(sandbox);
    if (this.#isTransferred(sandbox)) throw sandboxErrors.SNAPSHOT_UNDER_WAY();
    const leaveRoom = await this.reserveRoom(sandbox);
    try {
      const lastActivityAt = clock.now().toISOString();
      const change = { status: 'creating', stateReason: null, fault: null, lastActivityAt } as const;
      const limits = await quotaLimits.readLimits(workspaceUuid);
      const outcome = await repository.restart(id, ['stopped', 'error'], change, limits);
      if ('breach' in outcome) throw quotaExceeded(outcome.breach);
      const creating = outcome.sandbox;
      if (creating === null) return await this.get(workspaceUuid, id);
      watch.announce(id, creating);
      this.#boots.begin(creating);
      return creating;
    } finally {
      leaveRoom();
    }
  }

  /** Whether a snapshot holds the sandbox that goes through the tunnel of its cluster. */
  #isTransferred({ id, cluster }: Sandbox): boolean {
    return cluster !== null && this.#context.takes.has(id);
  }

  /** Pauses a running sandbox, keeping its memory, until it is resumed or accessed. Throws SANDBOX_NOT_RUNNING. */
  async pause(workspaceUuid: string, id: string): Promise<Sandbox> {
    return pause(this.#context, await this.held(workspaceUuid, id));
  }

  async resume(workspaceUuid: string, id: string): Promise<Sandbox> {
    return resume(this.#context, await this.held(workspaceUuid, id));
  }

  /** Changes when the sandbox expires (null keeps it) or replaces its labels. On any node. */
  async change(workspaceUuid: string, id: string, wanted: RecordChange): Promise<Sandbox> {
    return changeRecord(this.#context, await this.get(workspaceUuid, id), wanted);
  }

  /** Replaces what the sandbox may reach. Throws UNSUPPORTED_EGRESS and EGRESS_FIXED. */
  async changeEgress(workspaceUuid: string, id: string, allowed: readonly string[]): Promise<Sandbox> {
    return changeEgress(this.#context, await this.held(workspaceUuid, id), allowed);
  }

  /**
   * Stops a sandbox; cancels a pending start, and ends a snapshot that takes long, which a user does for a stopped or failed
   * sandbox too. Any other stopped sandbox is unchanged, and so is one whose expiry is no longer `expiredAt`, if that is given.
   * Throws SANDBOX_NOT_RUNNING for a failed one.
   */
  async stop(workspaceUuid: string, id: string, reason = BY_USER, expiredAt: string | null = null): Promise<Sandbox> {
    const sandbox = await this.held(workspaceUuid, id);
    const endsSnapshot = reason === BY_USER && this.#isTransferred(sandbox);
    if (endsSnapshot) return stop(this.#context, this.#boots, sandbox, { reason, expiredAt });
    if (sandbox.status === 'stopped') {
      await this.#context.stops.finish(sandbox);
      return sandbox;
    }
    if (sandbox.status === 'error') {
      throw sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status: sandbox.status } });
    }
    // A client may have extended its time: then nothing under way has to end.
    if (expiredAt !== null && sandbox.expiresAt !== expiredAt) return sandbox;
    return stop(this.#context, this.#boots, sandbox, { reason, expiredAt });
  }

  /**
   * Deletes a sandbox in any state, on any node. It is gone for every caller when this resolves. Its node cleans up its
   * machine in the background, or when it returns.
   */
  async remove(workspaceUuid: string, id: string): Promise<void> {
    const sandbox = await this.get(workspaceUuid, id);
    const { repository, clock, watch, holder } = this.#context;
    if (!(await repository.remove(id, clock.now().toISOString()))) throw sandboxErrors.SANDBOX_NOT_FOUND();
    watch.announce(id, null);
    if (!holder.isHere(sandbox)) return; // its node finds the marked record
    this.#removals.set(
      id,
      this.cleanUp(sandbox).finally(() => this.#removals.delete(id)),
    );
  }

  /** Removes all data of a deleted sandbox from the machine. The sweeper retries failures. */
  async cleanUp(sandbox: DrivenSandbox): Promise<void> {
    try {
      await cleanUp(this.#context, this.#boots, sandbox);
    } catch (error) {
      this.#context.log.error({ err: error, sandbox: sandbox.id }, 'a deleted sandbox could not be cleaned up yet');
    }
  }

  /** Ends and removes what a sandbox that was restored on another node has here. Its record stays. */
  removeLeftover(id: string): Promise<void> {
    return removeLeftover(this.#context, this.#boots, id);
  }

  async close(): Promise<void> {
    await Promise.all(this.#removals.values());
  }

  /** Whether a removal of this sandbox is under way. */
  isRemoving(id: string): boolean {
    return this.#removals.has(id);
  }

  async #repeat(
    workspaceUuid: string,
    outcome: Extract<InsertOutcome, { outcome: 'repeated' }>,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<Sandbox> {
    if (!outcome.sameRequest) throw sandboxErrors.IDEMPOTENCY_KEY_REUSED();
    const sandbox = await this.get(workspaceUuid, outcome.sandboxId);
    return waitForStatus(this.#context, sandbox, NOT_SETTLED, this.#context.clock, waitMs, signal);
  }

  #assertPossible(request: CreateRequest): void {
    // A snapshot's image is available here even if the catalog no longer has it.
    if (request.snapshotId === null && request.template === null && this.#catalog.find(request.image) === null) {
      const names = this.#catalog.names();
      throw sandboxErrors.UNKNOWN_IMAGE({
        details: { field: 'image', image: request.image, supported_images: names },
      });
    }
    const { cluster, isolation } = request;
    if (cluster === null) {
      this.#assertDriver();
      assertSupported(request, this.#context.driver, this.#context);
      assertPullable(request, this.#context.driver, this.#catalog, this.#imageService);
      this.#assertIsolation(isolation);
      return;
    }
    // What pods lack is known wherever the tunnel of their cluster is.
    const pods = new OfflineDriver(clusterDriverName(cluster.id), () => offlineError(cluster.name));
    assertSupported(request, pods, this.#context);
    assertPullable(request, pods, this.#catalog, this.#imageService);
    this.#assertIsolation(isolation, this.#isolation.of(cluster));
  }

  /** The operator may have required gVisor after the sandbox was created. */
  #assertIsolation(isolation: Isolation, policy = this.#isolation): void {
    const reason = policy.refusal(isolation);
    if (reason === null) return;
    throw sandboxErrors.UNSUPPORTED_ISOLATION({ details: { field: 'isolation', isolation, reason } });
  }

  #assertDriver(): void {
    const status = this.#context.driver.status();
    if (status.available) return;
    const details = { reason: status.reason, install: status.install };
    throw sandboxErrors.SANDBOXES_UNAVAILABLE({ details, headers: { 'retry-after': '60' } });
  }
}

function refuse(outcome: InsertOutcome, sandbox: Sandbox, limit: number): void {
  if (outcome.outcome === 'refused') {
    const { refusal } = outcome;
    throw refusal.by === 'quota' ? quotaExceeded(refusal.breach) : callerLimitReached(refusal.current, limit);
  }
  if (outcome.outcome === 'name_taken') {
    throw sandboxErrors.NAME_TAKEN({ details: { field: 'name', name: sandbox.name } });
  }
}
