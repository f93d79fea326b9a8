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

/** What a key took, with the function that returns it (further calls have no effect), or the reason for its refusal. */
export type ShareOutcome =
  | { readonly refusal: null; readonly release: () => void }
  | { readonly refusal: ShareRefusal; readonly release: null };

/**
 * Counts what several tenants hold of a limited resource, such as connections, so that none can take all of it. A group
 * takes more only while it holds less than what is free, and a key only while it holds less than half of that (dynamic
 * thresholds, Choudhury and Hahne, 1998): one group alone gets half, two get a third each, and n get 1/(n + 1) each, so
 * the next one always finds a share.
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
    const refusal = this.#refusal(key, group);
    if (refusal !== null) return { refusal, release: null };
    this.#count(key, group, 1);
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      this.#count(key, group, -1);
    };
    return { refusal: null, release };
  }

  #refusal(key: string, group: string): ShareRefusal | null {
    const { capacity, capacityPerKey = capacity, holders } = this.#options;
    const free = capacity - this.#held;
    const ofKey = this.#byKey.get(key) ?? 0;
    const ofGroup = this.#byGroup.get(group) ?? 0;
    if (free <= 0) return { holder: 'replica', held: this.#held, limit: capacity };
    if (ofKey >= capacityPerKey || ofKey * 2 >= free) return { holder: holders.key, held: ofKey, limit: capacity };
    return ofGroup >= free ? { holder: holders.group, held: ofGroup, limit: capacity } : null;
  }

  #count(key: string, group: string, change: number): void {
    this.#held += change;
    countIn(this.#byKey, key, change);
    countIn(this.#byGroup, group, change);
  }
}

function countIn(held: Map<string, number>, name: string, change: number): void {
  const after = (held.get(name) ?? 0) + change;
  if (after === 0) held.delete(name);
  else held.set(name, after);
}
