import { isStatusError } from './errors.ts';
import type { KubeClient } from './client.ts';
import type { KindReference, KubeObject } from './objects.ts';

export interface ReflectorOptions<Kept> {
  client: Pick<KubeClient, 'list' | 'watch'>;
  kind: KindReference;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** For what needs no bodies: a tenth of the bytes. */
  metadataOnly?: boolean;
  pageSize?: number;
  follower: ReflectorFollower<Kept>;
  random: () => number;
  /** Resolves after the time, or early and without an error when the signal aborts. */
  pause(delayMs: number, signal: AbortSignal): Promise<void>;
  /** A list or a watch failed and is tried again after the time. */
  onError(error: unknown, retryMs: number): void;
}

/** What happens to objects, each change once: a list that is read again tells only what is new. */
export interface ReflectorFollower<Kept> {
  /** `initial`: it was there before we looked. What is answered is all that stays in memory of the object. */
  seen(object: KubeObject, before: Kept | null, initial: boolean): Kept;
  gone(kept: Kept): void;
  /** The first list is complete. */
  synced?(): void;
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;
/** Not permitted, or a kind that this cluster does not have: it may come, but not soon. */
const HOPELESS_RETRY_MS = 120_000;
const SHORTEST_WATCH_SECONDS = 240;
const SPREAD_WATCH_SECONDS = 120;

/**
 * Lists once, then watches from there for good: from the last version after an ordinary end, from a new list after an
 * expired one (410). Keeps only what the follower makes of an object, so that memory follows that and not the cluster.
 */
export class Reflector<Kept> {
  readonly #options: ReflectorOptions<Kept>;
  readonly #kept = new Map<string, Kept>();
  #version: string | null = null;
  #synced = false;
  #retryMs = FIRST_RETRY_MS;

  constructor(options: ReflectorOptions<Kept>) {
    this.#options = options;
  }

  get size(): number {
    return this.#kept.size;
  }

  values(): MapIterator<Kept> {
    return this.#kept.values();
  }

  /** Runs until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { pause, onError, random } = this.#options;
    while (!signal.aborted) {
      try {
        this.#version ??= await this.#list(signal);
        await this.#watch(this.#version, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (isStatusError(error, 410)) {
          this.#version = null;
          continue;
        }
        const retryMs = (isHopeless(error) ? HOPELESS_RETRY_MS : this.#retryMs) * (0.5 + random() / 2);
        this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
        onError(error, retryMs);
        await pause(retryMs, signal);
      }
    }
  }

  async #list(signal: AbortSignal): Promise<string> {
    const { client, kind, pageSize = 100 } = this.#options;
    const listed = new Set<string>();
    let version = '';
    for await (const page of client.list(kind, { ...this.#selection(), pageSize, signal })) {
      version = page.resourceVersion;
      for (const object of page.items) {
        listed.add(keyOf(object));
        this.#see(object);
      }
    }
    for (const key of this.#kept.keys()) if (!listed.has(key)) this.#forget(key);
    this.#retryMs = FIRST_RETRY_MS;
    if (!this.#synced) {
      this.#synced = true;
      this.#options.follower.synced?.();
    }
    return version;
  }

  async #watch(from: string, signal: AbortSignal): Promise<void> {
    const { client, kind, random } = this.#options;
    const timeoutSeconds = SHORTEST_WATCH_SECONDS + Math.floor(random() * SPREAD_WATCH_SECONDS);
    const watch = client.watch(kind, { ...this.#selection(), resourceVersion: from, timeoutSeconds, signal });
    for await (const event of watch) {
      this.#retryMs = FIRST_RETRY_MS;
      if (event.type === 'BOOKMARK') {
        this.#version = event.resourceVersion;
        continue;
      }
      if (event.type === 'DELETED') this.#forget(keyOf(event.object));
      else this.#see(event.object);
      this.#version = event.object.metadata.resourceVersion ?? this.#version;
    }
  }

  #selection() {
    const { namespace, labelSelector, fieldSelector, metadataOnly } = this.#options;
    return {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
      ...(metadataOnly === undefined ? {} : { metadataOnly }),
    };
  }

  #see(object: KubeObject): void {
    const key = keyOf(object);
    const before = this.#kept.get(key) ?? null;
    this.#kept.set(key, this.#options.follower.seen(object, before, !this.#synced));
  }

  #forget(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#options.follower.gone(kept);
  }
}

/** An object made again with the same name is another one. */
function keyOf({ metadata }: KubeObject): string {
  return metadata.uid ?? `${metadata.namespace ?? ''}/${metadata.name}`;
}

function isHopeless(error: unknown): boolean {
  if (isStatusError(error)) return error.status === 403 || error.status === 404 || error.status === 405;
  return error instanceof Error && 'code' in error && error.code === 'UNKNOWN_KIND';
}
