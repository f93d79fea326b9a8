import { isStatusError } from '@svc/kube';
import { execRoute, type ExecTarget } from '@svc/kube/exec';
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
import { HelperConnection } from '../../../domain/helper/helper-connection.ts';
import { isEnding } from '../../../domain/snapshots/snapshot-takes.ts';
import { sandboxErrors } from '../../../errors.ts';
import { endPrograms, openBridge, type PodExecStream } from './exec-stream.ts';
import { FIELD_MANAGER, POD, podName, SANDBOX_CONTAINER, SANDBOX_LABEL, stateChange, type PodState } from './names.ts';
import {
  closeCluster,
  NO_EGRESS,
  openCluster,
  type KubernetesDriverOptions,
  type OpenCluster,
} from './open-cluster.ts';
import { PodImages } from './pod-images.ts';
import { sandboxPod } from './pod-request.ts';
import { outcomeWithin, PodUsage, UNMEASURED } from './pod-usage.ts';
import { awaitUp, filesGone, kubeFailure, NOT_RUNNING, notRunning } from './pod-failure.ts';
import type { SavedRoot } from './pod-files.ts';
import { createPodSaves, PodSnapshots, type HelperUse } from './pod-snapshots.ts';
import { isRunning, isUp, type PodView } from './pod-view.ts';

/** Includes the start of two probes, whose image may have to be pulled. */
const OPEN_LIMIT_MS = 240_000;
/** Timeout of requests without a limit of their own. */
const REQUEST_LIMIT_MS = 60_000;

/**
 * Runs sandboxes as pods. A pod cannot be stopped and started with its files, so a stopped sandbox keeps its pod, in
 * which only the helper runs: the state is an annotation of the pod. When the pod ends, the files are gone.
 */
export class KubernetesDriver implements SandboxDriver {
  readonly name: string;
  /** The cluster does the work. */
  readonly parallelStarts = 16;
  readonly lacks: ReadonlySet<DeclaredCapability> = POD_LACKS;
  readonly hasGpus: boolean;
  readonly pullsImages = true;
  readonly usesTemplates: boolean;
  readonly #options: KubernetesDriverOptions;
  readonly snapshots?: PodSnapshots;
  readonly saves?: SaveDriver;
  readonly #usage: PodUsage;
  readonly #images: PodImages;
  #cluster: OpenCluster | null = null;
  #status: DriverStatus = { available: false, reason: 'not started', install: null };

  constructor(options: KubernetesDriverOptions) {
    this.#options = options;
    this.name = options.name ?? 'kubernetes';
    this.hasGpus = options.gpuResource !== null;
    this.usesTemplates = options.platformImages?.hasTemplates ?? false;
    this.#usage = new PodUsage(options.clock);
    this.#images = new PodImages(options);
    const { snapshotFolder: folder, clock } = options;
    const { name: driver } = this;
    const withHelper = this.#withHelper.bind(this);
    const create = this.#create.bind(this);
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
    if (snapshotId === null) return this.#create(spec, null, signal, place);
    const { snapshots } = this;
    if (snapshots === undefined) throw sandboxErrors.SNAPSHOTS_UNAVAILABLE({ details: { driver: this.name } });
    return this.#create(spec, () => snapshots.open(snapshotId), signal, place);
  }

  /** `saved` has the files; null: the image has them. */
  async #create(
    spec: SandboxSpec,
    saved: ((signal: AbortSignal) => Promise<SavedRoot>) | null,
    signal: AbortSignal,
    place: StartPlace | undefined,
  ): Promise<void> {
    const name = this.#nameOf(spec.id);
    const { client, watch, helperImage, userNamespace } = this.#need();
    signal.throwIfAborted();
    if (spec.network === 'egress' && this.#options.nameservers.length === 0) {
      throw sandboxErrors.RUNTIME_FAILED({ details: { reason: `network egress is not available: ${NO_EGRESS}` } });
    }
    const found = watch.find(name);
    if (found !== null && isUp(found)) return;
    if (found !== null && (found.started || (found.failure?.kind === 'pod' && !found.filling))) throw filesGone(found);
    const runtimeClass = spec.isolation === 'gvisor' ? this.#options.gvisorRuntimeClass : this.#options.runtimeClass;
    const image = await this.#images.find(spec, client, signal);
    try {
      const state = saved === null ? 'stopped' : 'filling';
      const pod = sandboxPod(spec, { ...this.#options, ...image, helperImage, runtimeClass, userNamespace, state });
      await this.#options.assertOwner?.();
      if (found !== null) await this.#removePod(name, signal); // it never came up, or is being deleted
      watch.note(await client.create(pod, signal));
      await awaitUp(watch, { name, image: spec.image, signal, place });
      if (saved !== null) await this.#fill(name, saved, signal);
    } catch (error) {
      if (isStatusError(error, 409)) throw kubeFailure(error, 'ROOTFS_FAILED'); // a pod that we do not know
      const remove = this.#removePod(name, AbortSignal.timeout(REQUEST_LIMIT_MS));
      await remove.catch((cause: unknown) => {
        this.#options.log.warn({ err: cause, sandbox: spec.id }, 'the pod of a failed sandbox could not be removed');
      });
      throw kubeFailure(error, 'ROOTFS_FAILED');
    }
  }

  /**
   * The files are opened once the pod can take them, because an engine does not wait for a reader for long. The state comes
   * last: without it, the sandbox was not created.
   */
  async #fill(name: string, saved: (signal: AbortSignal) => Promise<SavedRoot>, signal: AbortSignal): Promise<void> {
    const pod = this.#need().watch.find(name);
    if (pod === null) throw filesGone(pod);
    const connection = await this.#openHelper(pod, signal);
    try {
      const root = await saved(signal);
      try {
        await root.restore(connection, signal);
      } finally {
        await root.close();
      }
    } finally {
      await connection.close();
    }
    await this.#setState(pod, 'stopped');
  }

  async isCreated(id: string): Promise<boolean> {
    const pod = this.#find(id);
    return pod !== null && isUp(pod);
  }

  async start(spec: SandboxSpec, _signal: AbortSignal): Promise<void> {
    const pod = this.#find(spec.id);
    if (pod === null || !isUp(pod)) throw filesGone(pod);
    if (pod.started) return;
    await this.#options.assertOwner?.();
    await this.#setState(pod, 'running');
  }

  async connect(id: string, signal: AbortSignal): Promise<HelperConnection> {
    const pod = this.#find(id);
    if (pod === null || !isRunning(pod)) throw sandboxErrors.AGENT_TIMEOUT({ details: { reason: NOT_RUNNING } });
    const connection = await this.#openHelper(pod, signal);
    this.#usage.adopt(id, connection);
    return connection;
  }

  async #openHelper(pod: PodView, signal: AbortSignal): Promise<HelperConnection> {
    let stream: PodExecStream | null = null;
    try {
      stream = await openBridge(execRoute(this.#need().client), this.#inside(pod), this.#options.clock, signal);
      return await HelperConnection.over(stream, signal);
    } catch (error) {
      const complaint = stream?.complaint ?? '';
      throw sandboxErrors.AGENT_TIMEOUT({ cause: complaint === '' ? error : new Error(complaint, { cause: error }) });
    }
  }

  /** Uses a connection of its own to the helper of a created sandbox, running or not. Throws the reason of the signal. */
  async #withHelper<Result>(
    id: string,
    { freezes, signal }: HelperUse,
    work: (connection: HelperConnection) => Promise<Result>,
  ): Promise<Result> {
    const pod = this.#find(id);
    if (pod === null || !isUp(pod)) throw filesGone(pod);
    signal.throwIfAborted();
    const mustPause = freezes && isRunning(pod) && !pod.paused;
    const soon = (): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(REQUEST_LIMIT_MS)]);
    if (mustPause) await this.pause(id, soon());
    try {
      const connection = await this.#openHelper(pod, soon());
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
      if (!pod.paused) await this.#setState(pod, 'paused');
    };
    await this.#askHelper(id, 'pause', signal, record);
  }

  async resume(id: string): Promise<void> {
    const pod = this.#find(id);
    if (pod === null || !isRunning(pod) || !pod.paused) return;
    await this.#options.assertOwner?.();
    await this.#askHelper(id, 'resume');
    await this.#setState(pod, 'running');
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

  /** Ends everything but the helper, then records it: a crash in between leaves a sandbox that counts as running. */
  async stop(id: string, graceMs: number): Promise<void> {
    const pod = this.#find(id);
    if (pod === null || !isRunning(pod)) return;
    await this.#options.assertOwner?.();
    try {
      const thawed = pod.paused ? this.#askHelper(id, 'resume') : Promise.resolve();
      // Programs that stay frozen cannot end by themselves.
      const givenMs = await thawed.then(
        () => graceMs,
        () => 0,
      );
      await endPrograms(execRoute(this.#need().client), this.#inside(pod), givenMs);
      await this.#setState(pod, 'stopped');
    } catch (error) {
      const now = this.#find(id);
      if (now === null || !isRunning(now)) return; // its pod ended meanwhile
      throw kubeFailure(error, 'RUNTIME_FAILED');
    }
  }

  async remove(id: string): Promise<void> {
    const name = this.#nameOf(id);
    this.#need();
    await this.#options.assertOwner?.();
    await this.#removePod(name, AbortSignal.timeout(REQUEST_LIMIT_MS));
  }

  async list(): Promise<readonly FoundSandbox[]> {
    const found: FoundSandbox[] = [];
    for (const pod of this.#need().watch.values()) {
      if (pod.sandboxId === null || pod.deleting) continue;
      found.push({ id: pod.sandboxId, running: isRunning(pod), paused: isRunning(pod) && pod.paused });
    }
    return found;
  }

  async close(): Promise<void> {
    const cluster = this.#cluster;
    this.#cluster = null;
    if (cluster !== null) await closeCluster(cluster);
    this.#status = { available: false, reason: 'closed', install: null };
  }

  async #setState(pod: PodView, state: PodState): Promise<void> {
    const { client, watch } = this.#need();
    const change = stateChange(pod, this.#options.namespace, state);
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
    try {
      const { object } = await client.apply(change, { fieldManager: FIELD_MANAGER, force: true, signal });
      watch.note(object);
    } catch (error) {
      throw kubeFailure(error, 'RUNTIME_FAILED');
    }
  }

  /** Resolves once the node has ended it. */
  async #removePod(name: string, signal: AbortSignal): Promise<void> {
    const { client, watch } = this.#need();
    try {
      const isThere = await client.delete({ ...POD, name, namespace: this.#options.namespace }, { signal });
      if (isThere || watch.find(name) !== null) await watch.until(name, (pod) => pod === null, signal);
    } catch (error) {
      throw kubeFailure(error, 'RUNTIME_FAILED');
    }
  }

  #inside({ name }: PodView): Pick<ExecTarget, 'namespace' | 'pod' | 'container'> {
    return { namespace: this.#options.namespace, pod: name, container: SANDBOX_CONTAINER };
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
