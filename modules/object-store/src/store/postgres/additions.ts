import type { SqlValue, Statement } from '../program.ts';

type Addition = Extract<Statement, { kind: 'add' }>;

/** Collects additions to counters and sums those to the same row. */
export class Additions {
  readonly #rows = new Map<string, { text: string; key: string | number; amounts: number[] }>();

  add({ text, amounts, key }: Addition): void {
    const id = `${text}\n${key}`;
    const row = this.#rows.get(id);
    if (row === undefined) this.#rows.set(id, { text, key, amounts: [...amounts] });
    else row.amounts = row.amounts.map((sum, index) => sum + (amounts[index] ?? 0));
  }

  /** Returns the sums, in the order in which every transaction writes them, and forgets them. */
  take(): readonly { text: string; values: readonly SqlValue[] }[] {
    const rows = [...this.#rows.values()].filter(({ amounts }) => amounts.some((amount) => amount !== 0));
    this.#rows.clear();
    return rows
      .toSorted((one, other) => compare(one.text, other.text) || compare(one.key, other.key))
      .map(({ text, amounts, key }) => ({ text, values: [...amounts, key] }));
  }
}

function compare(one: string | number, other: string | number): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
