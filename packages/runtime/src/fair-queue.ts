export interface FairQueueOptions {
  /** Most items of all keys together. */
  maxItems: number;
  /** Most items of one key; `maxItems` by default. */
  maxItemsPerKey?: number;
  /** Cost that a key may spend in one round, times its weight. Items that cost more wait for several rounds. */
  quantum?: number;
  /** The share of a key; 1 by default. Must be positive. */
  weight?: (key: string) => number;
}

interface Entry<Item> {
  readonly item: Item;
  readonly cost: number;
}

interface Line<Item> {
  readonly key: string;
  /** In the order of arrival; a set, so that a cancelled entry leaves at once. */
  readonly entries: Set<Entry<Item>>;
  /** What the key may still spend in this round. */
  deficit: number;
  /** Whether the key got its quantum of this round. */
  isVisited: boolean;
}

/**
 * Deficit round robin (Shreedhar and Varghese, 1995): keys take turns, items of one key keep their order. A key with a
 * thousand waiting items delays another key by one round at most.
 */
export class FairQueue<Item> {
  readonly #options: Required<FairQueueOptions>;
  /** Keys with items, in the order of their turns. */
  readonly #lines = new Map<string, Line<Item>>();
  #size = 0;

  constructor(options: FairQueueOptions) {
    this.#options = { maxItemsPerKey: options.maxItems, quantum: 1, weight: () => 1, ...options };
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
    const { maxItems, maxItemsPerKey } = this.#options;
    if (this.#size >= maxItems || this.sizeOf(key) >= maxItemsPerKey) return null;
    const line = this.#lines.get(key) ?? { key, entries: new Set(), deficit: 0, isVisited: false };
    this.#lines.set(key, line);
    const entry = { item, cost };
    line.entries.add(entry);
    this.#size += 1;
    return () => this.#remove(line, entry);
  }

  /** Takes the next item, of the keys that `mayServe` allows; undefined when there is none. */
  shift(mayServe: (key: string) => boolean = () => true): Item | undefined {
    let skippedInARow = 0;
    while (skippedInARow < this.#lines.size) {
      const [line] = this.#lines.values();
      const [entry] = line?.entries ?? [];
      if (line === undefined || entry === undefined) return undefined;
      if (!mayServe(line.key)) {
        skippedInARow += 1;
        this.#endTurn(line);
        continue;
      }
      skippedInARow = 0;
      if (!line.isVisited) {
        line.isVisited = true;
        line.deficit += this.#options.quantum * this.#options.weight(line.key);
      }
      if (line.deficit >= entry.cost) {
        line.deficit -= entry.cost;
        this.#remove(line, entry);
        return entry.item;
      }
      this.#endTurn(line);
    }
    return undefined;
  }

  /** Takes everything, in no particular order of keys. */
  drain(): Item[] {
    const items = [...this.#lines.values()].flatMap(({ entries }) => [...entries].map(({ item }) => item));
    this.#lines.clear();
    this.#size = 0;
    return items;
  }

  #endTurn(line: Line<Item>): void {
    line.isVisited = false;
    this.#lines.delete(line.key); // inserted again last: the order of the map is the order of turns
    this.#lines.set(line.key, line);
  }

  #remove(line: Line<Item>, entry: Entry<Item>): void {
    if (this.#lines.get(line.key) !== line || !line.entries.delete(entry)) return;
    this.#size -= 1;
    // An idle key keeps nothing for later: its next item waits for a turn as every other does.
    if (line.entries.size === 0) this.#lines.delete(line.key);
  }
}
