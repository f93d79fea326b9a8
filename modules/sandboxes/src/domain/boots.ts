import { isAppError } from '@svc/errors';
import { diskBytesOf, type Archive } from './archives/archive.ts';
import { assertDiskRoomAhead } from './disk-room.ts';
import { RIGHT_REVOKED } from './clusters/cluster-rights.ts';
import type { HelperConnection } from './helper/helper-connection.ts';
import type { SandboxSpec, StartPlace } from './driver.ts';
import { isCauseCode, sandboxErrors, type CauseCode } from '../errors.ts';
import { processEnvironment } from './egress-rules/process-environment.ts';
import { ProcessStream } from './processes/process-stream.ts';
import type { SandboxContext } from './context.ts';
import { hostnameOf } from './identifiers.ts';
import type { Sandbox, SandboxFault } from './sandbox.ts';

/** Clients poll for 120 s; a sandbox that becomes ready later is never seen. */
export const BOOT_LIMIT_MS = 100_000;
/** Slow enough for any engine: 8 MiB/s. */
const ARCHIVE_BYTES_PER_MS = 8 * 1024;
/** Clusters may be behind slow links: 256 KiB/s, of files that are unpacked here. */
const CLUSTER_BYTES_PER_MS = 256;
const MAX_CLUSTER_LIMIT_MS = 4 * 3_600_000;
const MIB = 1024 * 1024;

type BootSpec = SandboxSpec & Pick<Sandbox, 'startedAt' | 'workspaceUuid' | 'cluster'>;

interface Boot {
  readonly sandbox: Pick<Sandbox, 'workspaceUuid' | 'cluster'>;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** Takes sandboxes from `creating` to `running` or `error`, in the background and within a time limit. */
export class Boots {
  readonly #context: SandboxContext;
  readonly #running = new Map<string, Boot>();

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  /** `warm` is the connection to a running pool sandbox with this id that only needs to be adjusted. */
  begin(sandbox: Sandbox, warm: HelperConnection | null = null): void {
    this.#enqueue(sandbox, warm, null);
  }

  /** Begins a start again that was interrupted, and has already used part of its time. */
  continue(sandbox: Sandbox): void {
    this.#enqueue(sandbox, null, Date.parse(sandbox.lastActivityAt));
  }

  #enqueue(sandbox: Sandbox, warm: HelperConnection | null, sinceMs: number | null): void {
    if (this.#running.has(sandbox.id)) return;
    const controller = new AbortController();
    const done = this.#context.queue
      .run(sandbox.id, () => this.#bootIfDue(sandbox, warm, controller, sinceMs))
      .finally(() => this.#running.delete(sandbox.id));
    done.catch((error: unknown) => this.#context.log.error({ err: error, sandbox: sandbox.id }, 'boot failed badly'));
    this.#running.set(sandbox.id, { sandbox, controller, done });
  }

  /** Sandboxes being started. */
  get ids(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Whether a start of this sandbox is under way. */
  has(id: string): boolean {
    return this.#running.has(id);
  }

  /**
   * Starts a sandbox again that a lost answer of the database has left in `creating`: its record was written and no start
   * began, or the result of its start was not recorded.
   */
  async recover(id: string): Promise<void> {
    const { queue, repository, drivers, log } = this.#context;
    await queue.run(id, async () => {
      const sandbox = await repository.find(id);
      if (sandbox?.status !== 'creating' || this.has(id) || drivers.isAway(sandbox)) return;
      log.warn({ sandbox: id }, 'a start that was not recorded begins again');
      await drivers.of(sandbox).stop(id, 0);
      this.continue(sandbox);
    });
  }

  /** Sandboxes being started without a connection yet. */
  get underWay(): number {
    const { live } = this.#context;
    return [...this.#running.keys()].filter((id) => !live.has(id)).length;
  }

  /** Number of starts on this node itself, without a connection yet, in these workspaces. */
  countHere(includes: (workspaceUuid: string) => boolean): number {
    const { live } = this.#context;
    const isCounted = ([id, { sandbox }]: [string, Boot]): boolean =>
      sandbox.cluster === null && !live.has(id) && includes(sandbox.workspaceUuid);
    return [...this.#running].filter(isCounted).length;
  }

  /** Aborts the boot without changing the sandbox's status; the caller decides on the next one. */
  async cancel(id: string): Promise<void> {
    const boot = this.#running.get(id);
    boot?.controller.abort(new Cancelled());
    await boot?.done.catch(() => undefined); // logged by `begin`
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((id) => this.cancel(id)));
  }

  /** The sandbox may have been stopped or deleted before its turn. */
  async #bootIfDue(
    sandbox: Sandbox,
    warm: HelperConnection | null,
    controller: AbortController,
    sinceMs: number | null,
  ): Promise<void> {
    let isDue = false;
    try {
      isDue = await this.#isDue(sandbox);
    } finally {
      if (!isDue) await warm?.close();
    }
    if (isDue) await this.#boot(sandbox, warm, controller, sinceMs);
  }

  async #isDue({ id }: Sandbox): Promise<boolean> {
    const { repository, node } = this.#context;
    const current = await repository.find(id);
    return current?.status === 'creating' && current.node === node;
  }

  /** `sinceMs`: when its time began; null for its turn. What it waits for there, such as a snapshot, may take hours. */
  async #boot(
    sandbox: Sandbox,
    warm: HelperConnection | null,
    controller: AbortController,
    sinceMs: number | null,
  ): Promise<void> {
    const { clock, log } = this.#context;
    const startedAtMs = clock.nowMs();
    const download = await this.#findDownload(sandbox).catch(() => undefined); // the start reports it
    const limitMs = BOOT_LIMIT_MS + transferLimitMs(sandbox, download ?? null);
    const leftMs = Math.max(0, (sinceMs ?? startedAtMs) + limitMs - startedAtMs);
    const cancelTimer = clock.setTimer(() => controller.abort(new TimedOut()), leftMs);
    try {
      const { signal } = controller;
      signal.throwIfAborted();
      await this.#context.recovery.wait(sandbox, signal);
      if (warm === null) await this.#prepareImage(sandbox, download, signal);
      await this.#awaitVolumes(sandbox, signal);
      // The signal also cancels waiting for a slot, so that no sandbox stays in `creating` beyond its limit.
      await this.#context.places.run(sandbox, (place) => this.#bringUp(sandbox, warm, signal, place), signal);
      log.info({ sandbox: sandbox.id, duration_ms: clock.nowMs() - startedAtMs }, 'sandbox is running');
    } catch (error) {
      await this.#fail(sandbox, causeOf(error, controller.signal));
    } finally {
      cancelTimer();
      if (controller.signal.aborted) await warm?.close();
    }
  }

  /** Runs before a slot is taken, so that a slow download blocks no other start. An existing disk needs no image. */
  async #prepareImage(sandbox: Sandbox, download: Archive | null | undefined, signal: AbortSignal): Promise<void> {
    const { id, image, snapshotId, template, startedAt, workspaceUuid } = sandbox;
    const driver = this.#context.drivers.of(sandbox);
    const images = this.#context.archives?.images;
    if (snapshotId === null && template !== null && download !== null) {
      await images?.provide(template.digest, workspaceUuid, signal);
    }
    if (snapshotId !== null && typeof download?.base === 'string') {
      await images?.provideBase(download.base, workspaceUuid, signal);
    }
    if (snapshotId !== null || template !== null || startedAt !== null || (await driver.isCreated(id))) return;
    await driver.prepareImage?.(image, signal);
  }

  /** Waits for sandboxes that had the volumes before and are being stopped. They need slots of their own for that. */
  async #awaitVolumes({ volumes }: Sandbox, signal: AbortSignal): Promise<void> {
    if (volumes.length === 0) return;
    const { repository, queue } = this.#context;
    const mounters = await repository.mounters(volumes.map(({ volumeId }) => volumeId));
    for (const { sandboxId } of mounters.filter(({ isActive }) => !isActive)) {
      await queue.run(sandboxId, async () => undefined);
      signal.throwIfAborted();
    }
  }

  async #bringUp(
    sandbox: Sandbox,
    warm: HelperConnection | null,
    signal: AbortSignal,
    place: StartPlace,
  ): Promise<void> {
    const { repository, live, watch, clock, rules, node, storage } = this.#context;
    const spec = { ...sandbox, hostname: hostnameOf(sandbox.name) };
    const connection =
      (warm === null ? null : await this.#adjust(spec, warm)) ?? (await this.#start(spec, signal, place));
    try {
      await rules.prepare(sandbox, connection);
      await rules.apply(sandbox);
      await startTemplate(sandbox, connection);
    } catch (error) {
      await connection.close();
      throw error;
    }
    if (signal.aborted) {
      await connection.close();
      signal.throwIfAborted();
    }
    const now = clock.now().toISOString();
    const change = { status: 'running', stateReason: null, fault: null, startedAt: now, lastActivityAt: now } as const;
    // Before the record, so that a reader who finds the sandbox running can use it. If the connection is lost meanwhile,
    // the supervisor checks it after this start.
    live.adopt(sandbox, connection, Date.parse(now));
    let running: Sandbox | null = null;
    try {
      running = await repository.change(sandbox.id, ['creating'], change, node);
    } finally {
      if (running === null) await live.release(sandbox.id);
    }
    // Deleted or stopped meanwhile. The deletion removes the rest.
    if (running === null) return this.#context.stops.stop(sandbox, 0);
    watch.announce(sandbox.id, running);
    // The archive of a fork, or of a deleted snapshot, may have waited for this start only.
    const isStreamed = sandbox.cluster !== null && sandbox.snapshotId !== null && sandbox.startedAt === null;
    if (isStreamed) storage?.wakeSweep();
  }

  async #start(spec: BootSpec, signal: AbortSignal, place: StartPlace): Promise<HelperConnection> {
    const driver = this.#context.drivers.of(spec);
    const wasCreated = spec.startedAt === null && spec.snapshotId === null && (await driver.isCreated(spec.id));
    // One that has run is never created again, because it would be empty: if its files are gone, the start refuses.
    if (spec.startedAt === null) await this.#create(spec, signal, place);
    // The transfer of its files may have taken hours.
    if (!(await this.#context.clusterChoice.isAllowed(spec))) throw new RightRevoked();
    signal.throwIfAborted();
    await driver.start(spec, signal, place);
    // A disk from the warm pool has files with its previous hostname.
    if (wasCreated) await driver.adjust?.(spec).catch(this.#logUnadjusted(spec.id));
    return driver.connect(spec.id, signal);
  }

  /** A snapshot that is not on this node comes from its archive. */
  async #create(spec: BootSpec, signal: AbortSignal, place: StartPlace): Promise<void> {
    const { drivers, storage, disk } = this.#context;
    const driver = drivers.of(spec);
    const archive = await this.#findArchive(spec);
    if (storage === null || archive === null) return driver.create(spec, signal, place);
    if (await driver.isCreated(spec.id)) return;
    if (spec.cluster === null) await assertDiskRoomAhead(disk, diskBytesOf(archive));
    await storage.create(driver, spec, archive, signal, place);
  }

  /** What the start has to fetch from the engine: a snapshot, or the image of a template. */
  async #findDownload(sandbox: Sandbox): Promise<Archive | null> {
    const { snapshotId, template, startedAt } = sandbox;
    if (snapshotId !== null) return this.#findArchive(sandbox);
    if (template === null || startedAt !== null) return null;
    return (await this.#context.archives?.images.missing(template.digest)) ?? null;
  }

  async #findArchive(spec: Pick<BootSpec, 'id' | 'workspaceUuid' | 'cluster' | 'snapshotId' | 'startedAt'>) {
    const { storage, node, drivers } = this.#context;
    const { snapshotId, startedAt } = spec;
    if (storage === null || typeof snapshotId !== 'string' || startedAt !== null) return null;
    const driver = drivers.of(spec);
    const archive = await storage.findFor(snapshotId, driver);
    if (archive?.node !== node || driver.snapshots === undefined) return archive;
    // Its own driver has the files, unless they were streamed.
    return (await driver.snapshots.sizeBytes({ snapshot: snapshotId })) > 0 ? null : archive;
  }

  /** Returns null if the sandbox must be restarted on its existing disk. */
  async #adjust(spec: SandboxSpec, warm: HelperConnection): Promise<HelperConnection | null> {
    const { driver } = this.#context;
    try {
      await driver.adjust?.(spec);
      return warm;
    } catch (error) {
      this.#logUnadjusted(spec.id)(error);
      await warm.close();
      await driver.stop(spec.id, 0);
      return null;
    }
  }

  #logUnadjusted(id: string): (error: unknown) => void {
    return (error) => this.#context.log.warn({ err: error, sandbox: id }, 'a warm sandbox could not be adjusted');
  }

  async #fail(sandbox: Sandbox, error: unknown): Promise<void> {
    const { stops, repository, watch, log, node } = this.#context;
    if (error instanceof Cancelled) return;
    stops.add(sandbox);
    const change = outcomeOf(error);
    log.error({ err: error, sandbox: sandbox.id, code: change.stateReason }, 'sandbox could not be started');
    const failed = await repository.change(sandbox.id, ['creating'], change, node);
    if (failed !== null) watch.announce(sandbox.id, failed);
    // Free the resources of a failed start at once; the files stay for a recovery.
    await stops.stop(sandbox, 0).catch((cause: unknown) => {
      log.error({ err: cause, sandbox: sandbox.id }, 'a failed sandbox could not be cleaned up yet');
    });
  }
}

/** The disk of a sandbox bounds what an archive holds whose content was not counted. */
function transferLimitMs({ cluster, resources }: Pick<Sandbox, 'cluster' | 'resources'>, archive: Archive | null) {
  if (archive === null) return 0;
  if (cluster === null) return archive.sizeBytes / ARCHIVE_BYTES_PER_MS;
  const unpackedBytes = archive.unpackedBytes ?? Math.max(archive.sizeBytes, resources.diskMb * MIB);
  return Math.min(MAX_CLUSTER_LIMIT_MS, unpackedBytes / CLUSTER_BYTES_PER_MS);
}

/** Starts the command of the template in the background. It keeps running like any process, and is in the list of them. */
async function startTemplate(sandbox: Sandbox, connection: HelperConnection): Promise<void> {
  const { startCommand: argv, user, workingFolder: cwd } = sandbox.template ?? { startCommand: null };
  if (argv === null || argv === undefined) return;
  connection.require('processes');
  const request = {
    op: 'process.start',
    detached: true,
    argv,
    env: processEnvironment(sandbox),
    tag: 'template-start',
  };
  const place = { ...(cwd === null ? {} : { cwd }), ...(user === null ? {} : { user }) };
  try {
    (await ProcessStream.open(connection, { ...request, ...place })).close();
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    throw sandboxErrors.RUNTIME_FAILED({ details: { reason: `the start command failed: ${said}` }, cause });
  }
}

/** What a driver still waits for at the end of the time says more than that the time is over. */
const LATE_CAUSES: ReadonlySet<string> = new Set<CauseCode>(['IMAGE_PULL_FAILED', 'NO_CAPACITY']);

/** After an abort, errors are only consequences of it, except those that name what is late. */
function causeOf(error: unknown, signal: AbortSignal): unknown {
  if (!signal.aborted) return error;
  const late = signal.reason instanceof TimedOut;
  return late && isAppError(error) && LATE_CAUSES.has(error.code) ? error : signal.reason;
}

class Cancelled extends Error {}
class TimedOut extends Error {}
class RightRevoked extends Error {}

/** A right that is lost during a start has the same effect as later. */
function outcomeOf(error: unknown): Pick<Sandbox, 'status' | 'stateReason' | 'fault'> {
  if (error instanceof RightRevoked) return { status: 'stopped', stateReason: RIGHT_REVOKED, fault: null };
  const fault = faultOf(error);
  return { status: 'error', stateReason: fault.code, fault };
}

export function faultOf(error: unknown): SandboxFault {
  if (error instanceof TimedOut) {
    return { code: 'AGENT_TIMEOUT', message: 'The sandbox was not ready in time', recoverable: true };
  }
  if (isAppError(error) && isCauseCode(error.code)) {
    return { code: error.code, message: error.message.slice(0, 1000), recoverable: true };
  }
  const code: CauseCode = 'RUNTIME_FAILED';
  return { code, message: 'The sandbox could not be started', recoverable: true };
}
