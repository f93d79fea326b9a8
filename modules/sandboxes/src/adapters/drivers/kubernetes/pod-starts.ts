import { isStatusError } from '@svc/kube';
import type { SandboxSpec, StartPlace } from '../../../domain/driver.ts';
import { podName } from './names.ts';
import type { KubernetesDriverOptions, OpenCluster } from './open-cluster.ts';
import { specOf, type Disk } from './pod-disks.ts';
import { filesGone, kubeFailure } from './pod-failure.ts';
import type { SavedRoot } from './pod-files.ts';
import type { PodImages } from './pod-images.ts';
import { REQUEST_LIMIT_MS, type PodRuns } from './pod-runs.ts';
import { isUp, type PodView } from './pod-view.ts';

/** The files of a sandbox, wherever they come from. */
type Saved = (signal: AbortSignal) => Promise<SavedRoot>;

export interface PodStartsOptions {
  readonly options: KubernetesDriverOptions;
  readonly images: PodImages;
  readonly runs: PodRuns;
  /** Throws SANDBOXES_UNAVAILABLE. */
  readonly need: () => OpenCluster;
}

/** Decides which pod and disk a sandbox needs, whatever a crash or the cluster has left of it. */
export class PodStarts {
  readonly #options: KubernetesDriverOptions;
  readonly #images: PodImages;
  readonly #runs: PodRuns;
  readonly #need: () => OpenCluster;

  constructor({ options, images, runs, need }: PodStartsOptions) {
    this.#options = options;
    this.#images = images;
    this.#runs = runs;
    this.#need = need;
  }

  /** `saved` has the files; null: the image has them. */
  async create(
    spec: SandboxSpec,
    saved: Saved | null,
    signal: AbortSignal,
    place: StartPlace | undefined,
  ): Promise<void> {
    const name = this.#nameOf(spec.id);
    const { watch, disks } = this.#need();
    signal.throwIfAborted();
    this.#runs.assertNetwork(spec);
    const found = watch.find(name);
    const hasOtherFiles = found !== null && !found.hasDisk;
    const disk = hasOtherFiles || disks === null ? null : await disks.find(name, signal);
    if (disk?.isCreated === true || (hasOtherFiles && isUp(found))) return;
    const isOver = found?.started === true || (hasOtherFiles && found.failure?.kind === 'pod' && !found.filling);
    if (isOver) throw filesGone(found);
    await this.#options.assertOwner?.();
    try {
      if (found !== null) await this.#runs.remove(name, signal); // it never came up, or is being deleted
      if (disk === null && disks?.makesNew !== true) await this.#createInPod(spec, saved, signal, place);
      else await this.#createOnDisk(spec, disk, saved, signal, place);
    } catch (error) {
      if (isStatusError(error, 409)) throw kubeFailure(error, 'ROOTFS_FAILED'); // what we do not know
      await this.remove(name).catch((cause: unknown) => {
        this.#options.log.warn({ err: cause, sandbox: spec.id }, 'the pod of a failed sandbox could not be removed');
      });
      throw kubeFailure(error, 'ROOTFS_FAILED');
    }
  }

  async #createInPod(
    spec: SandboxSpec,
    saved: Saved | null,
    signal: AbortSignal,
    place: StartPlace | undefined,
  ): Promise<void> {
    const image = await this.#images.find(spec, this.#need().client, signal);
    await this.#runs.up(spec, image, saved === null ? 'stopped' : 'filling', signal, place);
    if (saved !== null) await this.#fill(this.#nameOf(spec.id), saved, signal);
  }

  /** `found` is what an interrupted create has left: the disk continues from there, and is marked once it is complete. */
  async #createOnDisk(
    spec: SandboxSpec,
    found: Disk | null,
    saved: Saved | null,
    signal: AbortSignal,
    place: StartPlace | undefined,
  ): Promise<void> {
    const { client, disks } = this.#need();
    if (disks === null) throw new Error('the cluster has no disks');
    const image = found === null ? await this.#images.find(spec, client, signal) : null;
    const disk = found ?? (await disks.create(spec, image?.imageSecret === null ? image.image : null, signal));
    const folders = await this.#runs.upOnDisk(spec, disk, saved === null ? 'stopped' : 'filling', signal, place);
    if (saved !== null) await this.#fill(disk.name, saved, signal);
    await disks.markCreated(disk, folders, signal);
  }

  /**
   * The files are opened once the pod can take them, because an engine does not wait for a reader for long. The state comes
   * last: without it, the sandbox was not created.
   */
  async #fill(name: string, saved: Saved, signal: AbortSignal): Promise<void> {
    const pod = this.#need().watch.find(name);
    if (pod === null) throw filesGone(pod);
    const connection = await this.#runs.openHelper(pod, signal);
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
    await this.#runs.setState(pod, 'stopped');
  }

  /** The disk of a created sandbox; null if it has none. */
  async findDisk(name: string, signal: AbortSignal): Promise<Disk | null> {
    try {
      const disk = (await this.#need().disks?.find(name, signal)) ?? null;
      return disk?.isCreated === true ? disk : null;
    } catch (error) {
      throw kubeFailure(error, 'RUNTIME_FAILED');
    }
  }

  /** Makes a pod for the disk of a created sandbox, replacing one that ended or did not come up. */
  async bringUp(
    spec: SandboxSpec,
    before: PodView | null,
    signal: AbortSignal,
    place: StartPlace | undefined,
  ): Promise<PodView> {
    const disk = before?.hasDisk === false ? null : await this.findDisk(this.#nameOf(spec.id), signal);
    if (disk === null) throw filesGone(before);
    this.#runs.assertNetwork(spec);
    try {
      if (before !== null) await this.#runs.remove(disk.name, signal);
      await this.#runs.upOnDisk(spec, disk, 'stopped', signal, place);
      const pod = this.#need().watch.find(disk.name);
      if (pod === null || !isUp(pod)) throw filesGone(pod);
      return pod;
    } catch (error) {
      if (isStatusError(error, 409)) throw kubeFailure(error, 'RUNTIME_FAILED'); // a pod that we do not know
      await this.#runs.remove(disk.name).catch((cause: unknown) => {
        this.#options.log.warn({ err: cause, sandbox: spec.id }, 'the pod of a failed start could not be removed');
      });
      throw kubeFailure(error, 'RUNTIME_FAILED');
    }
  }

  /** A pod for the disk of a stopped sandbox, in which nothing is started. */
  async bringUpIdle(id: string, before: PodView | null, signal: AbortSignal): Promise<PodView> {
    const disk = before?.hasDisk === false ? null : await this.findDisk(this.#nameOf(id), signal);
    if (disk === null) throw filesGone(before);
    await this.#options.assertOwner?.();
    return this.bringUp(specOf(id, disk), before, signal, undefined);
  }

  /** Unless the sandbox was started meanwhile, which then has the pod. */
  async endIdle({ name, uid }: PodView): Promise<void> {
    const now = this.#need().watch.find(name);
    if (now?.uid !== uid || now.started) return;
    await this.#runs.remove(name).catch((err: unknown) => {
      this.#options.log.warn({ err, pod: name }, 'the pod of a stopped sandbox could not be removed yet');
    });
  }

  /** Nothing uses such a pod after a crash: the start or copy that it was for has to begin again. */
  async removeIdle(): Promise<void> {
    const { watch } = this.#need();
    const idle = [...watch.values()].filter((pod) => pod.hasDisk && !pod.started);
    if (idle.length === 0) return;
    await this.#options.assertOwner?.();
    await Promise.all(idle.map((pod) => this.endIdle(pod)));
  }

  /** Removes pod and disk. Does nothing if there is neither. */
  async remove(name: string): Promise<void> {
    const { disks } = this.#need();
    await this.#runs.remove(name);
    try {
      await disks?.remove(name, AbortSignal.timeout(REQUEST_LIMIT_MS));
    } catch (error) {
      throw kubeFailure(error, 'RUNTIME_FAILED');
    }
  }

  #nameOf(id: string): string {
    return podName(this.#options.owner, id);
  }
}
