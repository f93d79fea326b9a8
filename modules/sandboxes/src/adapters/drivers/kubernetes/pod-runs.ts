import { execRoute, type ExecTarget } from '@svc/kube/exec';
import type { SandboxSpec, StartPlace } from '../../../domain/driver.ts';
import { HelperConnection } from '../../../domain/helper/helper-connection.ts';
import { sandboxErrors } from '../../../errors.ts';
import { endPrograms, openBridge, type PodExecStream } from './exec-stream.ts';
import { FIELD_MANAGER, POD, podName, SANDBOX_CONTAINER, stateChange, type PodState } from './names.ts';
import { NO_EGRESS, type KubernetesDriverOptions, type OpenCluster } from './open-cluster.ts';
import type { Disk } from './pod-disks.ts';
import { awaitUp, kubeFailure } from './pod-failure.ts';
import type { PodImage, PodImages } from './pod-images.ts';
import { sandboxPod, type SandboxPodOptions } from './pod-request.ts';
import type { PodView } from './pod-view.ts';

/** Timeout of requests without a limit of their own. */
export const REQUEST_LIMIT_MS = 60_000;
/** A disk that is not there by then is reported before the time of a start is over. */
const DISK_LIMIT_MS = 75_000;
/** Folders of most images, which a pod mounts until it is known better. */
const USUAL_FOLDERS = ['boot', 'etc', 'home', 'media', 'mnt', 'opt', 'root', 'run', 'srv', 'tmp', 'usr', 'var'];
/** The image's folders are reported once; a second report means that the cluster is up to something. */
const MAX_ATTEMPTS = 3;
const MAX_KNOWN_IMAGES = 256;

export interface PodRunsOptions {
  readonly options: KubernetesDriverOptions;
  readonly images: PodImages;
  /** Throws SANDBOXES_UNAVAILABLE. */
  readonly need: () => OpenCluster;
}

interface PodRun {
  readonly image: PodImage;
  readonly state: SandboxPodOptions['state'];
  readonly diskFolders: readonly string[] | null;
  readonly signal: AbortSignal;
  readonly place: StartPlace | undefined;
}

/** Creates the pods of sandboxes, connects to their helpers, and removes them. */
export class PodRuns {
  readonly #options: KubernetesDriverOptions;
  readonly #images: PodImages;
  readonly #need: () => OpenCluster;
  /** Folders by image, as disks have reported them. */
  readonly #folders = new Map<string, readonly string[]>();

  constructor({ options, images, need }: PodRunsOptions) {
    this.#options = options;
    this.#images = images;
    this.#need = need;
  }

  /** Throws RUNTIME_FAILED if there is no egress for a sandbox that needs it. */
  assertNetwork({ network }: SandboxSpec): void {
    if (network !== 'egress' || this.#options.nameservers.length > 0) return;
    throw sandboxErrors.RUNTIME_FAILED({ details: { reason: `network egress is not available: ${NO_EGRESS}` } });
  }

  /** Resolves once the pod runs, which has the files of the sandbox. Whatever has its name must be gone. */
  async up(
    spec: SandboxSpec,
    image: PodImage,
    state: SandboxPodOptions['state'],
    signal: AbortSignal,
    place: StartPlace | undefined,
  ): Promise<void> {
    await this.#run(spec, { image, state, diskFolders: null, signal, place });
  }

  /**
   * Resolves with the folders on the disk once a pod runs that mounts them. What an image has in its root is known only on a node, so
   * that a pod which mounts something else ends by itself and reports it.
   */
  async upOnDisk(
    spec: SandboxSpec,
    disk: Disk,
    state: SandboxPodOptions['state'],
    signal: AbortSignal,
    place: StartPlace | undefined,
  ): Promise<readonly string[]> {
    const { client, watch } = this.#need();
    const { reference, folders: known } = disk.content;
    const image =
      reference === null ? await this.#images.find(spec, client, signal) : { image: reference, imageSecret: null };
    let diskFolders = known ?? this.#folders.get(image.image) ?? USUAL_FOLDERS;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#withinLimit(disk.name, signal, (limit) =>
          this.#run(spec, { image, state, diskFolders, signal: limit, place }),
        );
        return diskFolders;
      } catch (error) {
        const reported = watch.find(disk.name)?.otherFolders ?? null;
        if (reported === null || attempt === MAX_ATTEMPTS) throw error;
        diskFolders = reported;
        this.#remember(image.image, reported);
        await this.remove(disk.name, signal);
      }
    }
  }

  async #run(spec: SandboxSpec, { image, state, diskFolders, signal, place }: PodRun): Promise<void> {
    const { client, watch, helperImage, userNamespace } = this.#need();
    const { gvisorRuntimeClass, runtimeClass, owner } = this.#options;
    const isolated = spec.isolation === 'gvisor' ? gvisorRuntimeClass : runtimeClass;
    const made = { helperImage, userNamespace, state, diskFolders, runtimeClass: isolated };
    watch.note(await client.create(sandboxPod(spec, { ...this.#options, ...image, ...made }), signal));
    await awaitUp(watch, { name: podName(owner, spec.id), image: spec.image, signal, place });
  }

  /** Ends the wait for a disk that is not provided or mounted, with the words of the cluster. */
  async #withinLimit(name: string, signal: AbortSignal, work: (limit: AbortSignal) => Promise<void>): Promise<void> {
    const late = new AbortController();
    const check = async (): Promise<void> => {
      const { disks, watch } = this.#need();
      const reason = (await disks?.whyLate(name, watch.find(name))) ?? null;
      if (reason !== null) late.abort(sandboxErrors.ROOTFS_FAILED({ details: { reason } }));
    };
    const cancelTimer = this.#options.clock.setTimer(() => void check().catch(() => undefined), DISK_LIMIT_MS);
    try {
      await work(AbortSignal.any([signal, late.signal]));
    } catch (error) {
      throw late.signal.aborted ? late.signal.reason : error;
    } finally {
      cancelTimer();
    }
  }

  #remember(image: string, folders: readonly string[]): void {
    this.#folders.set(image, folders);
    const [oldest] = this.#folders.keys();
    if (this.#folders.size > MAX_KNOWN_IMAGES && oldest !== undefined) this.#folders.delete(oldest);
  }

  async setState(pod: PodView, state: PodState): Promise<void> {
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
  async remove(name: string, signal = AbortSignal.timeout(REQUEST_LIMIT_MS)): Promise<void> {
    const { client, watch } = this.#need();
    try {
      const isThere = await client.delete({ ...POD, name, namespace: this.#options.namespace }, { signal });
      if (isThere || watch.find(name) !== null) await watch.until(name, (pod) => pod === null, signal);
    } catch (error) {
      throw kubeFailure(error, 'RUNTIME_FAILED');
    }
  }

  /** Throws AGENT_TIMEOUT. */
  async openHelper(pod: PodView, signal: AbortSignal): Promise<HelperConnection> {
    let stream: PodExecStream | null = null;
    try {
      stream = await openBridge(execRoute(this.#need().client), this.#inside(pod), this.#options.clock, signal);
      return await HelperConnection.over(stream, signal);
    } catch (error) {
      const complaint = stream?.complaint ?? '';
      throw sandboxErrors.AGENT_TIMEOUT({ cause: complaint === '' ? error : new Error(complaint, { cause: error }) });
    }
  }

  /** Ends everything in the pod but its helper. */
  endPrograms(pod: PodView, graceMs: number): Promise<void> {
    return endPrograms(execRoute(this.#need().client), this.#inside(pod), graceMs);
  }

  #inside({ name }: PodView): Pick<ExecTarget, 'namespace' | 'pod' | 'container'> {
    return { namespace: this.#options.namespace, pod: name, container: SANDBOX_CONTAINER };
  }
}
