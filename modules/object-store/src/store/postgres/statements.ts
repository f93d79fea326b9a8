import type { Pipeline } from '@svc/sql';
import type { Lock, Row, SqlValue, Statement } from '../program.ts';

/** Statements are constants; this bounds the cache if some are not. */
const MAX_TEXTS = 1_024;

/** Sends statements of programs to PostgreSQL. One instance serves all connections. */
export class PostgresStatements {
  readonly #texts = new Map<string, string>();

  async rows(pipeline: Pipeline, text: string, values: readonly SqlValue[]): Promise<readonly Row[]> {
    const { rows } = await pipeline.query(this.#convert(text), values);
    return rows as readonly Row[]; // the pool parses every type that the schema uses into these
  }

  /** Converts `?` to `$1`, `$2`, … and removes index hints for SQLite. No statement has a `?` within a literal. */
  #convert(text: string): string {
    const converted = this.#texts.get(text);
    if (converted !== undefined) return converted;
    let index = 0;
    const numbered = text.replace(/\{index \w+\}/, '').replace(/\?/g, () => `$${(index += 1)}`);
    if (this.#texts.size < MAX_TEXTS) this.#texts.set(text, numbered);
    return numbered;
  }
}

/** In the order of the hashed names, the same for all transactions. Hashes may collide, so sorting names is not enough. */
const TAKE_LOCKS = `select case when wanted.shared then pg_advisory_xact_lock_shared(wanted.id)
    else pg_advisory_xact_lock(wanted.id) end
  from (select hashtextextended(name, 727032) as id, shared
    from unnest($1::text[], $2::boolean[]) as given (name, shared) order by id, shared) as wanted`;

/** Takes locks until the transaction ends. A name that is wanted both ways is locked exclusively. */
export async function takeLocks(pipeline: Pipeline, locks: readonly Lock[]): Promise<void> {
  const wanted = new Map<string, boolean>();
  for (const { name, shared } of locks) wanted.set(name, shared && (wanted.get(name) ?? true));
  if (wanted.size > 0) await pipeline.query(TAKE_LOCKS, [[...wanted.keys()], [...wanted.values()]]);
}

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
