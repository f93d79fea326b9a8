import { compareVersions, Reflector, type KubeClient, type KubeObject } from '@svc/kube';
import { pause, type Clock, type Random } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import { POD, selectOwner } from './names.ts';
import { toPodView, type PodView } from './pod-view.ts';

/** Deleted pods whose late responses are ignored. */
const MAX_GONE = 1000;

export interface PodWatchOptions {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly namespace: string;
  readonly owner: string;
  /** For a cluster that is not trusted. */
  readonly maxPods?: number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

type Listener = (pod: PodView | null) => void;

/**
 * The owner's pods, kept up to date by one watch: no call asks the API server about the state of a sandbox. Responses
 * to our own changes are noted at once, so that a caller sees what it did.
 */
export class PodWatch {
  readonly #reflector: Reflector<PodView>;
  readonly #pods = new Map<string, PodView>();
  readonly #gone = new Set<string>();
  /** Pods known from responses alone, by name. */
  readonly #unconfirmed = new Map<string, PodView>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #synced = Promise.withResolvers<void>();
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** Why the last list or watch failed; null while it works. */
  #failure: unknown = null;

  constructor({ client, namespace, owner, maxPods, clock, random, log }: PodWatchOptions) {
    this.#reflector = new Reflector<PodView>({
      client,
      kind: POD,
      namespace,
      labelSelector: selectOwner(owner),
      ...(maxPods === undefined ? {} : { maxObjects: maxPods }),
      follower: {
        seen: (object, before) => this.#see(object, before),
        gone: (pod) => this.#forget(pod),
        reached: (version) => this.#reach(version),
        synced: () => this.#synced.resolve(),
      },
      random: () => random.bytes(4).readUInt32BE() / 2 ** 32,
      pause: (delayMs, signal) => pause(clock, delayMs, signal),
      onError: (error, retryMs) => {
        this.#failure = error;
        log.warn({ err: error, retry_in_ms: Math.round(retryMs) }, 'the Kubernetes API does not report pods');
      },
    });
  }

  /** Resolves once all pods are known. Throws the failure of the list if the signal aborts before. */
  async open(signal: AbortSignal): Promise<void> {
    this.#running = this.#reflector.run(this.#stop.signal);
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(this.#failure ?? signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    try {
      await Promise.race([this.#synced.promise, aborted.promise]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  find(name: string): PodView | null {
    return this.#pods.get(name) ?? null;
  }

  values(): MapIterator<PodView> {
    return this.#pods.values();
  }

  /** Takes over the state in a response, unless a later one is known. */
  note(object: KubeObject): PodView {
    const pod = toPodView(object);
    const isNew = this.#pods.get(pod.name)?.uid !== pod.uid;
    const kept = this.#keep(pod);
    if (isNew && this.#pods.get(pod.name) === pod) this.#unconfirmed.set(pod.name, pod);
    return kept;
  }

  #see(object: KubeObject, before: PodView | null): PodView {
    const pod = toPodView(object);
    // Names never change, but a hostile cluster could otherwise make us keep one pod under many.
    if (before !== null && before.name !== pod.name) this.#forget(before);
    if (this.#unconfirmed.get(pod.name)?.uid === pod.uid) this.#unconfirmed.delete(pod.name);
    return this.#keep(pod);
  }

  /** Forgets pods that came and went while the watch was interrupted: it never reports them. */
  #reach(version: string): void {
    this.#failure = null;
    for (const pod of this.#unconfirmed.values()) if (!isLater(pod.version, version)) this.#forget(pod);
  }

  #keep(pod: PodView): PodView {
    const known = this.#pods.get(pod.name);
    // Also across pods of one name: versions increase over all pods.
    if (known !== undefined && !isLater(pod.version, known.version)) return known;
    if (this.#gone.has(pod.uid)) return pod;
    this.#pods.set(pod.name, pod);
    this.#notify(pod.name, pod);
    return pod;
  }

  /** Resolves with the pod, null if there is none, once it is as wanted. Throws the signal's reason. */
  async until(name: string, isWanted: (pod: PodView | null) => boolean, signal: AbortSignal): Promise<PodView | null> {
    signal.throwIfAborted();
    const now = this.find(name);
    if (isWanted(now)) return now;
    const found = Promise.withResolvers<PodView | null>();
    const listener: Listener = (pod) => {
      if (isWanted(pod)) found.resolve(pod);
    };
    const abort = (): void => found.reject(signal.reason);
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await found.promise;
    } finally {
      signal.removeEventListener('abort', abort);
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(name);
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  #forget({ name, uid }: PodView): void {
    this.#gone.add(uid);
    const [oldest] = this.#gone;
    if (this.#gone.size > MAX_GONE && oldest !== undefined) this.#gone.delete(oldest);
    if (this.#unconfirmed.get(name)?.uid === uid) this.#unconfirmed.delete(name);
    if (this.#pods.get(name)?.uid !== uid) return; // a later pod with the same name
    this.#pods.delete(name);
    this.#notify(name, null);
  }

  #notify(name: string, pod: PodView | null): void {
    for (const listener of this.#listeners.get(name) ?? []) listener(pod);
  }
}

/** Resource versions are increasing numbers; anything else is taken as later. */
function isLater(version: string, than: string): boolean {
  return (compareVersions(version, than) ?? 1) > 0;
}
