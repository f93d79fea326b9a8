/** Bounds and grouping of shares. */
export interface SharesOptions {
  /** Maximum held at a time, by all keys together. */
  readonly capacity: number;
  /** Maximum per key, however much is free. Defaults to `capacity`. */
  readonly capacityPerKey?: number;
  /** Keys of a group have one share together. By default each key is its own group. */
  readonly groupOf?: (key: string) => string;
  /** Words for a key and a group in refusals, such as `workspace` and `owner`. */
  readonly holders: { readonly key: string; readonly group: string };
}

/** Why a key gets nothing now. The fields suit the details of an error. */
export interface ShareRefusal {
  /** Who holds too much: the word for a key or a group, or `replica` if everything is taken. */
  readonly holder: string;
  /** How much it holds. */
  readonly held: number;
  /** How much all may hold together. */
  readonly limit: number;
}

/** What is held before a key takes one more. */
export interface Holdings {
  /** By all keys. */
  readonly all: number;
  readonly key: number;
  /** By the group of the key, the key included. */
  readonly group: number;
}

/**
 * The rule of shares, for counts kept elsewhere, such as in a database: why a key may take no more now, or null. A
 * group takes more only while it holds less than what is free, and a key only while it holds less than half of that.
 */
export function findShareRefusal(
  held: Holdings,
  { capacity, capacityPerKey = capacity, holders }: Pick<SharesOptions, 'capacity' | 'capacityPerKey' | 'holders'>,
): ShareRefusal | null {
  const free = capacity - held.all;
  if (free <= 0) return { holder: 'replica', held: held.all, limit: capacity };
  if (held.key >= capacityPerKey || held.key * 2 >= free) {
    return { holder: holders.key, held: held.key, limit: capacity };
  }
  return held.group >= free ? { holder: holders.group, held: held.group, limit: capacity } : null;
}

/** What a key took, with the function that returns it (further calls have no effect), or the reason for its refusal. */
export type ShareOutcome =
  | { readonly refusal: null; readonly release: () => void }
  | { readonly refusal: ShareRefusal; readonly release: null };

/**
 * Counts what several tenants hold of a limited resource, such as connections, so that none can take all of it, by the
 * rule of `findShareRefusal` (dynamic thresholds, Choudhury and Hahne, 1998): one group alone gets half, two get a third
 * each, and n get 1/(n + 1) each, so the next one always finds a share.
 */
export class Shares {
  readonly #options: SharesOptions;
  readonly #byKey = new Map<string, number>();
  readonly #byGroup = new Map<string, number>();
  #held = 0;

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** How much all keys hold. */
  get held(): number {
    return this.#held;
  }

  /** Takes one for the key. */
  take(key: string): ShareOutcome {
    const group = this.#options.groupOf?.(key) ?? key;
    const refusal = findShareRefusal(this.#holdings(key, group), this.#options);
    if (refusal !== null) return { refusal, release: null };
    this.#count(key, group, 1);
    return { refusal: null, release: once(() => this.#count(key, group, -1)) };
  }

  /** Takes one as long as any is free: for a holder that stands for many others, such as a proxy. */
  takeUnshared(): ShareOutcome {
    const { capacity } = this.#options;
    if (this.#held >= capacity) {
      return { refusal: { holder: 'replica', held: this.#held, limit: capacity }, release: null };
    }
    this.#held += 1;
    return { refusal: null, release: once(() => void (this.#held -= 1)) };
  }

  #holdings(key: string, group: string): Holdings {
    return { all: this.#held, key: this.#byKey.get(key) ?? 0, group: this.#byGroup.get(group) ?? 0 };
  }

  #count(key: string, group: string, change: number): void {
    this.#held += change;
    countIn(this.#byKey, key, change);
    countIn(this.#byGroup, group, change);
  }
}

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    action();
  };
}

function countIn(held: Map<string, number>, name: string, change: number): void {
  const after = (held.get(name) ?? 0) + change;
  if (after === 0) held.delete(name);
  else held.set(name, after);
}
