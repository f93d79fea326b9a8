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
  /** Where an earlier process stood; absent = begin with a list. */
  from?: ReflectorPlace<Kept>;
  random: () => number;
  /** Resolves after the time, or early and without an error when the signal aborts. */
  pause(delayMs: number, signal: AbortSignal): Promise<void>;
  /** A list or a watch failed and is tried again after the time. */
  onError(error: unknown, retryMs: number): void;
}

/** All that a reflector needs to go on: what it kept of each object, and up to where it has seen changes. */
export interface ReflectorPlace<Kept> {
  /** Resource version; empty = the objects are known, but must be listed again. Null = the first list is not complete. */
  version: string | null;
  kept: Iterable<readonly [key: string, kept: Kept]>;
}

export interface Sight {
  /** The object's own; one made again with the same name has another. */
  key: string;
  /** It was there before we looked. */
  initial: boolean;
  /** Everything up to here was seen; null while a list is read. */
  version: string | null;
}

/** What happens to objects, each change once: a list that is read again tells only what is new. */
export interface ReflectorFollower<Kept> {
  /** What is answered is all that stays in memory of the object. */
  seen(object: KubeObject, before: Kept | null, sight: Sight): Kept;
  gone(kept: Kept, sight: Sight): void;
  /** Nothing new up to this version; empty: it expired, and a list follows. */
  reached?(version: string): void;
  /** The first list is complete, or an earlier process had it: it is watched from here on. */
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
  #announced = false;
  /** Version of an earlier process that was not compared with the server's yet. */
  #resumed: string | null = null;
  #retryMs = FIRST_RETRY_MS;
  /** Watches in a row that told nothing: they ended at once, or their version had expired already. */
  #inVain = 0;

  constructor(options: ReflectorOptions<Kept>) {
    this.#options = options;
    const { from } = options;
    if (from === undefined) return;
    for (const [key, kept] of from.kept) this.#kept.set(key, kept);
    this.#synced = from.version !== null;
    this.#resumed = from.version === '' ? null : from.version;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Everything up to here was seen; null before a first list is complete, and while one is read again. */
  get version(): string | null {
    return this.#version;
  }

  values(): MapIterator<Kept> {
    return this.#kept.values();
  }

  /** Runs until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { pause, onError, random } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#resume(signal);
        this.#inVain += 1;
        await this.#watch(this.#version ?? (await this.#list(signal)), signal);
        await this.#pauseInVain(signal);
      } catch (error) {
        if (signal.aborted) return;
        if (isStatusError(error, 410)) {
          this.#version = null;
          this.#options.follower.reached?.('');
          await this.#pauseInVain(signal);
          continue;
        }
        this.#inVain = 0; // this has a pause of its own
        const retryMs = (isHopeless(error) ? HOPELESS_RETRY_MS : this.#retryMs) * (0.5 + random() / 2);
        this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
        onError(error, retryMs);
        await pause(retryMs, signal);
      }
    }
  }

  /**
   * One watch in vain is ordinary. A cluster that changes faster than its list is read expires each version at once, and a
   * proxy may end each answer: then every round costs the server a list or a connection, and must not follow the other.
   */
  async #pauseInVain(signal: AbortSignal): Promise<void> {
    const { pause, random } = this.#options;
    if (this.#inVain < 2) return;
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** (this.#inVain - 2), LONGEST_RETRY_MS);
    await pause(delayMs * (0.5 + random() / 2), signal);
  }

  /**
   * Goes on from the version of an earlier process. A server that is behind it was restored from a backup or is another
   * one: a watch from the future would be silent until it caught up.
   */
  async #resume(signal: AbortSignal): Promise<void> {
    if (this.#resumed === null) return;
    const { client, kind } = this.#options;
    for await (const page of client.list(kind, { ...this.#selection(), pageSize: 1, signal })) {
      if (!isNewer(this.#resumed, page.resourceVersion)) this.#version = this.#resumed;
      break;
    }
    this.#resumed = null;
    if (this.#version !== null) this.#announce();
  }

  async #list(signal: AbortSignal): Promise<string> {
    const { client, kind, pageSize = 100 } = this.#options;
    const listed = new Set<string>();
    let version = '';
    for await (const page of client.list(kind, { ...this.#selection(), pageSize, signal })) {
      version = page.resourceVersion;
      for (const object of page.items) {
        listed.add(keyOf(object));
        this.#see(object, null);
      }
    }
    for (const key of this.#kept.keys()) if (!listed.has(key)) this.#forget(key, null);
    this.#retryMs = FIRST_RETRY_MS;
    this.#synced = true;
    this.#version = version;
    this.#options.follower.reached?.(version);
    this.#announce();
    return version;
  }

  #announce(): void {
    if (this.#announced) return;
    this.#announced = true;
    this.#options.follower.synced?.();
  }

  async #watch(from: string, signal: AbortSignal): Promise<void> {
    const { client, kind, random } = this.#options;
    const timeoutSeconds = SHORTEST_WATCH_SECONDS + Math.floor(random() * SPREAD_WATCH_SECONDS);
    const watch = client.watch(kind, { ...this.#selection(), resourceVersion: from, timeoutSeconds, signal });
    for await (const event of watch) {
      this.#retryMs = FIRST_RETRY_MS;
      this.#inVain = 0;
      if (event.type === 'BOOKMARK') {
        this.#version = event.resourceVersion;
        this.#options.follower.reached?.(event.resourceVersion);
        continue;
      }
      const version = event.object.metadata.resourceVersion ?? this.#version;
      if (event.type === 'DELETED') this.#forget(keyOf(event.object), version);
      else this.#see(event.object, version);
      this.#version = version;
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

  #see(object: KubeObject, version: string | null): void {
    const key = keyOf(object);
    const before = this.#kept.get(key) ?? null;
    this.#kept.set(key, this.#options.follower.seen(object, before, { key, initial: !this.#synced, version }));
  }

  #forget(key: string, version: string | null): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#options.follower.gone(kept, { key, initial: !this.#synced, version });
  }
}

/** An object made again with the same name is another one. */
function keyOf({ metadata }: KubeObject): string {
  return metadata.uid ?? `${metadata.namespace ?? ''}/${metadata.name}`;
}

/** Versions are numbers that grow (Kubernetes 1.35 says so, all before behave so); anything else is not compared. */
function isNewer(version: string, than: string): boolean {
  return /^\d+$/.test(version) && /^\d+$/.test(than) && BigInt(version) > BigInt(than);
}

function isHopeless(error: unknown): boolean {
  if (isStatusError(error)) return error.status === 403 || error.status === 404 || error.status === 405;
  return error instanceof Error && 'code' in error && error.code === 'UNKNOWN_KIND';
}
