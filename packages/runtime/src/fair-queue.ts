import { FairRound, type Turn } from './fair-round.ts';

/** Bounds and grouping of a fair queue. */
export interface FairQueueOptions {
  /** Maximum items across all keys. */
  maxItems: number;
  /** Maximum items per key. Defaults to `maxItems`. */
  maxItemsPerKey?: number;
  /** Maximum items per group. Defaults to `maxItems`. */
  maxItemsPerGroup?: number;
  /** Cost that a key may spend per round. More expensive items wait several rounds. */
  quantum?: number;
  /** Keys of a group share one turn. By default each key is its own group. */
  groupOf?: (key: string) => string;
}

/** Whether an item of this key may be served now. */
export type MayServe = (key: string, group: string) => boolean;

interface Entry<Item> {
  readonly item: Item;
  readonly cost: number;
}

interface Line<Item> {
  readonly key: string;
  readonly group: Group<Item>;
  /** In order of arrival; a set, so that cancelling an entry is immediate. */
  readonly entries: Set<Entry<Item>>;
}

interface Group<Item> {
  readonly name: string;
  readonly lines: FairRound<Line<Item>>;
  size: number;
}

/**
 * Deficit round robin (Shreedhar and Varghese, 1995) on two levels: groups take turns, and so do the keys within a
 * group. Items of one key stay in order. A key with a thousand items delays another key by at most one round, and a
 * group with a thousand keys delays another group no more than a single key would.
 */
export class FairQueue<Item> {
  readonly #options: Required<FairQueueOptions>;
  readonly #groups: FairRound<Group<Item>>;
  readonly #lines = new Map<string, Line<Item>>();
  #size = 0;

  constructor(options: FairQueueOptions) {
    const { maxItems } = options;
    const defaults = {
      maxItemsPerKey: maxItems,
      maxItemsPerGroup: maxItems,
      quantum: 1,
      groupOf: (key: string) => key,
    };
    this.#options = { ...defaults, ...options };
    this.#groups = new FairRound(this.#options.quantum);
  }

  get size(): number {
    return this.#size;
  }

  /** Number of queued items of a key. */
  sizeOf(key: string): number {
    return this.#lines.get(key)?.entries.size ?? 0;
  }

  /**
   * Appends an item. Returns a function that cancels it, or null if the queue is full. Cancelling twice has no effect.
   */
  push(key: string, item: Item, cost = 1): (() => void) | null {
    const { maxItems, maxItemsPerKey, maxItemsPerGroup } = this.#options;
    if (this.#size >= maxItems || this.sizeOf(key) >= maxItemsPerKey) return null;
    // While a key has queued items, it stays in its original group.
    const known = this.#lines.get(key);
    const name = known?.group.name ?? this.#options.groupOf(key);
    const group = known?.group ?? this.#groups.get(name) ?? this.#newGroup(name);
    if (group.size >= maxItemsPerGroup) return null;
    const line = known ?? { key, group, entries: new Set() };
    const entry = { item, cost };
    this.#groups.add(name, group);
    group.lines.add(key, line);
    this.#lines.set(key, line);
    line.entries.add(entry);
    group.size += 1;
    this.#size += 1;
    return () => this.#remove(line, entry);
  }

  /** Removes and returns the next item among the keys that `mayServe` accepts; undefined if there is none. */
  shift(mayServe: MayServe = () => true): Item | undefined {
    const nextLine = (group: Group<Item>): Turn<Line<Item>> | undefined =>
      group.lines.next((line) => (mayServe(line.key, group.name) ? firstOf(line)?.cost : undefined));
    const turn = this.#groups.next((group) => {
      const line = nextLine(group)?.member;
      return line === undefined ? undefined : firstOf(line)?.cost;
    });
    const lineTurn = turn === undefined ? undefined : nextLine(turn.member);
    const entry = lineTurn === undefined ? undefined : firstOf(lineTurn.member);
    if (turn === undefined || lineTurn === undefined || entry === undefined) return undefined;
    turn.deficit -= entry.cost;
    lineTurn.deficit -= entry.cost;
    this.#remove(lineTurn.member, entry);
    return entry.item;
  }

  /** Whether `shift` would return an item. */
  has(mayServe: MayServe): boolean {
    return [...this.#lines.values()].some(({ key, group }) => mayServe(key, group.name));
  }

  /** Removes and returns all items, in no particular order of keys. */
  drain(): Item[] {
    const lines = [...this.#lines.values()];
    const items = lines.flatMap(({ entries }) => [...entries].map(({ item }) => item));
    for (const line of lines) for (const entry of line.entries) this.#remove(line, entry);
    return items;
  }

  #newGroup(name: string): Group<Item> {
    return { name, lines: new FairRound(this.#options.quantum), size: 0 };
  }

  #remove(line: Line<Item>, entry: Entry<Item>): void {
    if (!line.entries.delete(entry)) return;
    const { key, group } = line;
    this.#size -= 1;
    group.size -= 1;
    // An idle key saves nothing up: its next item waits for a turn like any other.
    if (line.entries.size === 0) {
      this.#lines.delete(key);
      group.lines.delete(key);
    }
    if (group.size === 0) this.#groups.delete(group.name);
  }
}

function firstOf<Item>({ entries }: Line<Item>): Entry<Item> | undefined {
  const [entry] = entries;
  return entry;
}
