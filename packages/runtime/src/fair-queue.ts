import { FairRound, type Turn } from './fair-round.ts';

export interface FairQueueOptions {
  /** Most items of all keys together. */
  maxItems: number;
  /** Most items of one key; `maxItems` by default. */
  maxItemsPerKey?: number;
  /** Most items of all keys of one group; `maxItems` by default. */
  maxItemsPerGroup?: number;
  /** Cost that a key may spend in one round. Items that cost more wait for several rounds. */
  quantum?: number;
  /** Keys of one group share the turns of one. By default each key is a group of its own. */
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
  /** In the order of arrival; a set, so that a cancelled entry leaves at once. */
  readonly entries: Set<Entry<Item>>;
}

interface Group<Item> {
  readonly name: string;
  readonly lines: FairRound<Line<Item>>;
  size: number;
}

/**
 * Deficit round robin (Shreedhar and Varghese, 1995) on two levels: groups take turns, the keys of a group take turns
 * within its own, and items of one key keep their order. A key with a thousand waiting items delays another key by one
 * round at most, and a group with a thousand keys delays another group as much as one key does.
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

  /** How many items of a key wait. */
  sizeOf(key: string): number {
    return this.#lines.get(key)?.entries.size ?? 0;
  }

  /** Appends an item; returns how to cancel it, or null when the queue is full. Cancelling twice changes nothing. */
  push(key: string, item: Item, cost = 1): (() => void) | null {
    const { maxItems, maxItemsPerKey, maxItemsPerGroup } = this.#options;
    if (this.#size >= maxItems || this.sizeOf(key) >= maxItemsPerKey) return null;
    // While a key has a line, it stays in the group that it began in.
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

  /** Takes the next item, of the keys that `mayServe` allows; undefined when there is none. */
  shift(mayServe: MayServe = () => true): Item | undefined {
    const lineOf = (group: Group<Item>): Turn<Line<Item>> | undefined =>
      group.lines.next((line) => (mayServe(line.key, group.name) ? firstOf(line)?.cost : undefined));
    const turn = this.#groups.next((group) => {
      const line = lineOf(group)?.member;
      return line === undefined ? undefined : firstOf(line)?.cost;
    });
    const lineTurn = turn === undefined ? undefined : lineOf(turn.member);
    const entry = lineTurn === undefined ? undefined : firstOf(lineTurn.member);
    if (turn === undefined || lineTurn === undefined || entry === undefined) return undefined;
    turn.deficit -= entry.cost;
    lineTurn.deficit -= entry.cost;
    this.#remove(lineTurn.member, entry);
    return entry.item;
  }

  /** Takes everything, in no particular order of keys. */
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
    // An idle key keeps nothing for later: its next item waits for a turn as every other does.
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
