import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Program, Row, SqlValue, Statement } from '../program.ts';

interface Prepared {
  readonly statement: StatementSync;
  readonly columns: readonly string[];
  readonly changesBuckets: boolean;
}

const WRITES: ReadonlySet<Statement['kind']> = new Set(['write', 'send', 'add']);

/** Matches writes to the table `bucket`, but not to tables whose names start with it. */
const CHANGES_BUCKETS = /\b(?:into|update|from)\s+bucket\b/i;

/** Runs programs on one SQLite connection. Statements are constants, so the cache is bounded by the code. */
export class SqliteSession {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, Prepared>();
  #bucketsChanged = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Calls `onWrite` before the first write. */
  run<Result>(program: Program<Result>, onWrite?: () => void): Result {
    let written = false;
    let step = program.next([]);
    while (!step.done) {
      if (WRITES.has(step.value.kind) && !written) {
        written = true;
        onWrite?.();
      }
      step = program.next(this.#rows(step.value));
    }
    return step.value;
  }

  /** Whether a bucket row was written since the last call, even if rolled back. */
  takeBucketsChanged(): boolean {
    const changed = this.#bucketsChanged;
    this.#bucketsChanged = false;
    return changed;
  }

  #rows(statement: Statement): readonly Row[] {
    if (statement.kind === 'lock' || statement.kind === 'claim') return []; // there is a single writer
    const { statement: prepared, columns, changesBuckets } = this.#prepare(statement.text);
    if (WRITES.has(statement.kind) && changesBuckets) this.#bucketsChanged = true;
    const values = statement.kind === 'add' ? [...statement.amounts, statement.key] : statement.values;
    // Arrays, as requested in `#prepare`. No column is read as a bigint.
    const rows = prepared.all(...values) as unknown as readonly (readonly SqlValue[])[];
    return rows.map((values) => toRow(columns, values));
  }

  #prepare(text: string): Prepared {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text.replace(/\{index (\w+)\}/, 'indexed by $1'));
    // Row objects created by Node.js take twice as long as arrays plus our conversion.
    statement.setReturnArrays(true);
    const columns = statement.columns().map(({ name }) => name);
    const prepared = { statement, columns, changesBuckets: CHANGES_BUCKETS.test(text) };
    this.#statements.set(text, prepared);
    return prepared;
  }
}

function toRow(columns: readonly string[], values: readonly SqlValue[]): Row {
  const row: Record<string, SqlValue | undefined> = {};
  let index = 0; // a counter, since `entries` would allocate an array per value
  for (const column of columns) {
    row[column] = values[index];
    index += 1;
  }
  return row;
}
