import { isStatusError } from './errors.ts';
import type { KubeClient } from './client.ts';
import type { KindReference, KubeObject } from './objects.ts';

/** Longer than any number that an API server counts to (64 bits have 20 digits). */
const MAX_DIGITS = 32;
/** Longer than a namespace and a name, which have up to 253 characters each. */
const MAX_KEY = 1024;
/** Pages without objects in a row from a cluster that is not trusted. */
const MAX_EMPTY_PAGES = 100;

/** Options of a reflector. */
export interface ReflectorOptions<Kept> {
  client: Pick<KubeClient, 'list' | 'watch'>;
  kind: KindReference;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Requests only metadata, at a tenth of the bytes. */
  metadataOnly?: boolean;
  pageSize?: number;
  /** For a cluster that is not trusted: it fails, and tries again, while the cluster reports more objects. */
  maxObjects?: number;
  follower: ReflectorFollower<Kept>;
  /** State of an earlier process. If absent, starts with a list. */
  from?: ReflectorPlace<Kept>;
  random: () => number;
  /** Resolves after the time, or early without an error if the signal aborts. */
  pause(delayMs: number, signal: AbortSignal): Promise<void>;
  /** Called when a list or watch failed; it is retried after the given time. */
  onError(error: unknown, retryMs: number): void;
}

/** A reflector's state: what it kept of each object, and the version up to which it has seen changes. */
export interface ReflectorPlace<Kept> {
  /** Resource version. Empty: the objects are known but must be listed again. Null: the first list is incomplete. */
  version: string | null;
  kept: Iterable<readonly [key: string, kept: Kept]>;
}

/** Circumstances in which an object was seen. */
export interface Sight {
  /** Unique per object; a recreated object with the same name has another key. */
  key: string;
  /** The object existed before the first list. */
  initial: boolean;
  /** All changes up to this version were seen; null during a list. */
  version: string | null;
}

/** Receives each change once: a repeated list only reports what is new. */
export interface ReflectorFollower<Kept> {
  /** Only the returned value stays in memory. */
  seen(object: KubeObject, before: Kept | null, sight: Sight): Kept;
  gone(kept: Kept, sight: Sight): void;
  /** No more changes up to this version. Empty: it expired, and a list follows. */
  reached?(version: string): void;
  /** The first list is complete, or an earlier process had completed it; the watch starts. */
  synced?(): void;
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;
/** Not permitted, or a kind that this cluster lacks: unlikely to change soon. */
const HOPELESS_RETRY_MS = 120_000;
const SHORTEST_WATCH_SECONDS = 240;
const SPREAD_WATCH_SECONDS = 120;

/**
 * Lists once, then watches continuously: from the last version after a normal end, from a new list after an expired
 * version (410). Keeps only the follower's result per object, which bounds memory independently of the cluster.
 */
export class Reflector<Kept> {
  readonly #options: ReflectorOptions<Kept>;
  readonly #kept = new Map<string, Kept>();
  #version: string | null = null;
  #synced = false;
  #announced = false;
  /** Version from an earlier process, not yet compared with the server's. */
  #resumed: string | null = null;
  #retryMs = FIRST_RETRY_MS;
  /** Consecutive watches without events: they ended immediately, or their version had expired. */
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

  /** All changes up to this version were seen; null before the first list is complete and during a list. */
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
        this.#inVain = 0; // this has its own pause
        const retryMs = (isHopeless(error) ? HOPELESS_RETRY_MS : this.#retryMs) * (0.5 + random() / 2);
        this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
        onError(error, retryMs);
        await pause(retryMs, signal);
      }
    }
  }

  /**
   * One watch without events is normal. If a cluster changes faster than its list is read, each version expires
   * immediately, and a proxy may end each response. Pause then, since every round costs the server a list or a
   * connection.
   */
  async #pauseInVain(signal: AbortSignal): Promise<void> {
    const { pause, random } = this.#options;
    if (this.#inVain < 2) return;
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** (this.#inVain - 2), LONGEST_RETRY_MS);
    await pause(delayMs * (0.5 + random() / 2), signal);
  }

  /**
   * Resumes from the version of an earlier process. A server behind that version was restored from a backup or
   * replaced; a watch from the future would stay silent until it caught up.
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
    const { client, kind, pageSize = 100, maxObjects = Infinity } = this.#options;
    const listed = new Set<string>();
    let version = '';
    let emptyPages = 0;
    for await (const page of client.list(kind, { ...this.#selection(), pageSize, signal })) {
      version = page.resourceVersion;
      emptyPages = page.items.length === 0 ? emptyPages + 1 : 0;
      if (emptyPages > MAX_EMPTY_PAGES && maxObjects !== Infinity)
        throw new Error('the cluster sent too many empty pages');
      for (const object of page.items) {
        listed.add(keyOf(object));
        if (listed.size > maxObjects) throw tooMany(maxObjects);
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
      const { maxObjects = Infinity } = this.#options;
      if (this.#kept.size >= maxObjects && !this.#kept.has(keyOf(event.object))) throw tooMany(maxObjects);
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

/** A recreated object with the same name has another key. */
function keyOf({ metadata }: KubeObject): string {
  const key: unknown = metadata.uid ?? `${metadata.namespace ?? ''}/${metadata.name}`;
  if (typeof key === 'string' && key.length <= MAX_KEY) return key;
  throw new Error('the cluster reports an object without a valid name');
}

function tooMany(maxObjects: number): Error {
  return new Error(`the cluster reports more than ${maxObjects} objects`);
}

/** Versions are increasing numbers; anything else is not compared. */
function isNewer(version: string, than: string): boolean {
  return (compareVersions(version, than) ?? 0) > 0;
}

function isHopeless(error: unknown): boolean {
  if (isStatusError(error)) return error.status === 403 || error.status === 404 || error.status === 405;
  return error instanceof Error && 'code' in error && error.code === 'UNKNOWN_KIND';
}

/**
 * Compares two resource versions, which are increasing numbers (documented since Kubernetes 1.35, true before). Undefined
 * if one is anything else, or so long that only a hostile cluster sends it. Takes no longer for long texts.
 */
export function compareVersions(one: string, other: string): number | undefined {
  if (!isVersion(one) || !isVersion(other)) return undefined;
  const [left, right] = [BigInt(one), BigInt(other)];
  if (left === right) return 0;
  return left > right ? 1 : -1;
}

function isVersion(text: string): boolean {
  return text.length <= MAX_DIGITS && /^\d+$/.test(text);
}
