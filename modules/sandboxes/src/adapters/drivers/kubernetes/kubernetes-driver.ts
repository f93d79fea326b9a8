import { unlessAborted } from '@svc/runtime';
import {
  assertSandboxId,
  type DeclaredCapability,
  type DriverStatus,
  type FoundSandbox,
  type Isolation,
  type SandboxCondition,
  type SandboxDriver,
  type SandboxSpec,
  type SandboxStats,
  type SaveDriver,
  type StartPlace,
} from '../../../domain/driver.ts';
import { POD_LACKS } from '../../../domain/clusters/pod-capabilities.ts';
import type { HelperConnection } from '../../../domain/helper/helper-connection.ts';
import { isEnding } from '../../../domain/snapshots/snapshot-takes.ts';
import { sandboxErrors } from '../../../errors.ts';
import { POD, podName, SANDBOX_LABEL } from './names.ts';
import { closeCluster, openCluster, type KubernetesDriverOptions, type OpenCluster } from './open-cluster.ts';
import { PodImages } from './pod-images.ts';
import { outcomeWithin, PodUsage, UNMEASURED } from './pod-usage.ts';
import { kubeFailure, NOT_RUNNING, notRunning } from './pod-failure.ts';
import { PodRuns, REQUEST_LIMIT_MS } from './pod-runs.ts';
import { PodStarts } from './pod-starts.ts';
import { createPodSaves, PodSnapshots, type HelperUse } from './pod-snapshots.ts';
import { isRunning, isUp, type PodView } from './pod-view.ts';

/** Includes the start of two probes, whose image may have to be pulled. */
const OPEN_LIMIT_MS = 240_000;
/** Disks measure themselves. Whether they are limited depends on their class. */
const DISK_LACKS: ReadonlySet<DeclaredCapability> = new Set([...POD_LACKS].filter((each) => each !== 'disk_usage'));

/**
 * Runs sandboxes as pods. A pod cannot be stopped and started with its files. Without disks, a stopped sandbox therefore keeps
 * its pod, in which only the helper runs: the state is an annotation of the pod, and when the pod ends, the files are
 * gone. With a disk, the files are on a claim, and each start makes a new pod.
 */
export class KubernetesDriver implements SandboxDriver {
  readonly name: string;
  /** The cluster does the work. */
  readonly parallelStarts = 16;
  readonly lacks: ReadonlySet<DeclaredCapability>;
  readonly hasGpus: boolean;
  readonly pullsImages = true;
  readonly usesTemplates: boolean;
  readonly #options: KubernetesDriverOptions;
  readonly snapshots?: PodSnapshots;
  readonly saves?: SaveDriver;
  readonly #usage: PodUsage;
  readonly #images: PodImages;
  readonly #runs: PodRuns;
  readonly #starts: PodStarts;
  #cluster: OpenCluster | null = null;
  #status: DriverStatus = { available: false, reason: 'not started', install: null };

  constructor(options: KubernetesDriverOptions) {
    this.#options = options;
    this.name = options.name ?? 'kubernetes';
    this.hasGpus = options.gpuResource !== null;
    this.lacks = options.storageClass === null ? POD_LACKS : DISK_LACKS;
    this.usesTemplates = options.platformImages?.hasTemplates ?? false;
    this.#usage = new PodUsage(options.clock);
    this.#images = new PodImages(options);
    const need = this.#need.bind(this);
    this.#runs = new PodRuns({ options, images: this.#images, need });
    this.#starts = new PodStarts({ options, images: this.#images, runs: this.#runs, need });
    const { snapshotFolder: folder, clock } = options;
    const { name: driver } = this;
    const withHelper = this.#withHelper.bind(this);
    const create = this.#starts.create.bind(this.#starts);
    const copies = { driver, withHelper, create, clock };
    if (folder === null) this.saves = createPodSaves(copies);
    else this.snapshots = new PodSnapshots({ ...copies, folder, isHeld: async (id) => this.#isHeld(id) });
  }

  async open(stop?: AbortSignal): Promise<DriverStatus> {
    await this.close();
    const timeout = AbortSignal.timeout(OPEN_LIMIT_MS);
    try {
      const signal = stop === undefined ? timeout : AbortSignal.any([timeout, stop]);
      const { cluster, status } = await openCluster(this.#options, signal);
      this.#cluster = cluster;
      this.#status = status;
      await this.#starts.removeIdle();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#status = { available: false, reason, install: null };
    }
    return this.#status;
  }

  status(): DriverStatus {
    return this.#status;
  }

  whyUnsupported(isolation: Isolation): string | null {
    if (isolation === 'namespaces') return null;
    return this.#cluster === null ? 'no cluster is connected' : this.#cluster.whyNoGvisor;
  }

  prepareImage(image: string, signal: AbortSignal): Promise<void> {
    return this.#images.prepare(image, signal);
  }

  async create(spec: SandboxSpec, signal: AbortSignal, place?: StartPlace): Promise<void> {
    const { snapshotId = null } = spec;
    if (snapshotId === null) return this.#starts.create(spec, null, signal, place);
    const { snapshots } = this;
    if (snapshots === undefined) throw sandboxErrors.SNAPSHOTS_UNAVAILABLE({ details: { driver: this.name } });
    return this.#starts.create(spec, () => snapshots.open(snapshotId), signal, place);
  }

  async isCreated(id: string): Promise<boolean> {
    const pod = this.#find(id);
    if (pod?.hasDisk === false) return isUp(pod);
    return (await this.#starts.findDisk(this.#nameOf(id), AbortSignal.timeout(REQUEST_LIMIT_MS))) !== null;
  }

  async start(spec: SandboxSpec, signal: AbortSignal, place?: StartPlace): Promise<void> {
    const found = this.#find(spec.id);
    const isThere = found !== null && isUp(found);
    if (isThere && found.started) return;
    await this.#options.assertOwner?.();
    const pod = isThere ? found : await this.#starts.bringUp(spec, found, signal, place);
    await this.#runs.setState(pod, 'running');
  }

  async connect(id: string, signal: AbortSignal): Promise<HelperConnection> {
    const pod = this.#find(id);
    if (pod === null || !isRunning(pod)) throw sandboxErrors.AGENT_TIMEOUT({ details: { reason: NOT_RUNNING } });
    const connection = await this.#runs.openHelper(pod, signal);
    this.#usage.adopt(id, connection);
    return connection;
  }

  /** Uses a connection of its own to the helper of a created sandbox, running or not. Throws the reason of the signal. */
  async #withHelper<Result>(
    id: string,
    { freezes, signal }: HelperUse,
    work: (connection: HelperConnection) => Promise<Result>,
  ): Promise<Result> {
    const found = this.#find(id);
    signal.throwIfAborted();
    const isThere = found !== null && isUp(found);
    const pod = isThere ? found : await this.#starts.bringUpIdle(id, found, signal);
    const mustPause = freezes && isRunning(pod) && !pod.paused;
    const soon = (): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(REQUEST_LIMIT_MS)]);
    if (mustPause) await this.pause(id, soon());
    try {
      const connection = await this.#runs.openHelper(pod, soon());
      let result: Result;
      try {
        result = await unlessAborted(work(connection), signal, () => signal.reason as Error); // the caller's own
      } finally {
        await connection.close();
      }
      await this.#options.assertOwner?.(); // another node may have changed the sandbox meanwhile
      signal.throwIfAborted(); // or it would stay paused although it succeeded
      return result;
    } catch (error) {
      signal.throwIfAborted();
      throw kubeFailure(error, 'RUNTIME_FAILED');
    } finally {
      if (mustPause && !isEnding(signal)) await this.resume(id);
      if (!isThere) await this.#starts.endIdle(pod);
    }
  }

  /** Whether a pod of any node has the sandbox. */
  async #isHeld(id: string): Promise<boolean> {
    assertSandboxId(id);
    const { client } = this.#need();
    const options = { namespace: this.#options.namespace, labelSelector: `${SANDBOX_LABEL}=${id}` };
    for await (const { items } of client.list(POD, options)) if (items.length > 0) return true;
    return false;
  }

  async inspect(id: string): Promise<SandboxCondition> {
    const pod = this.#find(id);
    return { running: pod !== null && isRunning(pod), outOfMemory: pod?.outOfMemory ?? false };
  }

  async stats(id: string): Promise<SandboxStats> {
    const pod = this.#find(id);
    if (pod === null || !isRunning(pod)) return UNMEASURED;
    const figures = await this.#usage.read(id);
    if (figures !== null) return figures;
    const connection = await this.connect(id, AbortSignal.timeout(REQUEST_LIMIT_MS));
    try {
      return (await this.#usage.read(id)) ?? UNMEASURED;
    } finally {
      await connection.close();
    }
  }

  /** Recorded first: after a crash or a failure, a resume continues what was stopped. */
  async pause(id: string, signal?: AbortSignal): Promise<void> {
    const pod = this.#find(id);
    if (pod === null || !isRunning(pod)) throw notRunning();
    await this.#options.assertOwner?.();
    const record = async (): Promise<void> => {
      if (!pod.paused) await this.#runs.setState(pod, 'paused');
    };
    await this.#askHelper(id, 'pause', signal, record);
  }

  async resume(id: string): Promise<void> {
    const pod = this.#find(id);
    if (pod === null || !isRunning(pod) || !pod.paused) return;
    await this.#options.assertOwner?.();
    await this.#askHelper(id, 'resume');
    await this.#runs.setState(pod, 'running');
  }

  /** `ready` runs once it is certain that the helper understands. */
  async #askHelper(
    id: string,
    op: 'pause' | 'resume',
    signal = AbortSignal.timeout(REQUEST_LIMIT_MS),
    ready?: () => Promise<void>,
  ): Promise<void> {
    try {
      const open = this.#usage.connectionOf(id);
      const connection = open ?? (await this.connect(id, signal));
      try {
        if (!connection.has('pause')) throw sandboxErrors.PAUSE_UNAVAILABLE({ details: { driver: this.name } });
        await ready?.();
        const answering = outcomeWithin(REQUEST_LIMIT_MS, connection.call({ op }), this.#options.clock);
        const outcome = await unlessAborted(answering, signal, () => signal.reason as Error); // the caller's own
        if (!outcome.ok) throw new Error(`its helper answers ${outcome.code}: ${outcome.message}`);
      } finally {
        if (open === null) await connection.close();
      }
    } catch (error) {
      throw kubeFailure(error, 'RUNTIME_FAILED');
    }
  }

  /**
   * Ends everything but the helper, then records it: a crash in between leaves a sandbox that counts as running. The pod of
   * a sandbox with a disk goes, whatever state it is in.
   */
  async stop(id: string, graceMs: number): Promise<void> {
    const pod = this.#find(id);
    if (pod === null || !(pod.hasDisk || isRunning(pod))) return;
    await this.#options.assertOwner?.();
    try {
      if (isRunning(pod) && !(pod.hasDisk && graceMs === 0)) await this.#endPrograms(pod, id, graceMs);
      if (!pod.hasDisk) await this.#runs.setState(pod, 'stopped');
    } catch (error) {
      const now = this.#find(id);
      if (now === null || !isRunning(now)) return; // its pod ended meanwhile
      if (!pod.hasDisk) throw kubeFailure(error, 'RUNTIME_FAILED');
      this.#options.log.warn({ err: error, sandbox: id }, 'the programs of a sandbox end with its pod');
    }
    if (pod.hasDisk) await this.#runs.remove(pod.name);
  }

  async #endPrograms(pod: PodView, id: string, graceMs: number): Promise<void> {
    const thawed = pod.paused ? this.#askHelper(id, 'resume') : Promise.resolve();
    // Programs that stay frozen cannot end by themselves.
    const givenMs = await thawed.then(
      () => graceMs,
      () => 0,
    );
    await this.#runs.endPrograms(pod, givenMs);
  }

  async remove(id: string): Promise<void> {
    const name = this.#nameOf(id);
    this.#need();
    await this.#options.assertOwner?.();
    await this.#starts.remove(name);
  }

  async list(): Promise<readonly FoundSandbox[]> {
    const { watch, disks } = this.#need();
    const found = new Map<string, FoundSandbox>();
    const stored = (await disks?.list(AbortSignal.timeout(REQUEST_LIMIT_MS))) ?? [];
    for (const id of stored) found.set(id, { id, running: false, paused: false });
    for (const pod of watch.values()) {
      const { sandboxId: id } = pod;
      if (id === null || pod.deleting) continue;
      found.set(id, { id, running: isRunning(pod), paused: isRunning(pod) && pod.paused });
    }
    return [...found.values()];
  }

  async close(): Promise<void> {
    const cluster = this.#cluster;
    this.#cluster = null;
    if (cluster !== null) await closeCluster(cluster);
    this.#status = { available: false, reason: 'closed', install: null };
  }

  #find(id: string): PodView | null {
    const name = this.#nameOf(id);
    return this.#need().watch.find(name);
  }

  #nameOf(id: string): string {
    return podName(this.#options.owner, id);
  }

  #need(): OpenCluster {
    if (this.#cluster !== null) return this.#cluster;
    const reason = this.#status.available ? 'closed' : this.#status.reason;
    throw sandboxErrors.SANDBOXES_UNAVAILABLE({ details: { reason } });
  }
}
