import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Program, Row, SqlValue, Statement } from '../program.ts';

interface Prepared {
  readonly statement: StatementSync;
  readonly columns: readonly string[];
  readonly changesBuckets: boolean;
}

/** Writes to the table `bucket`, to none whose name only begins so. */
const CHANGES_BUCKETS = /\b(?:into|update|from)\s+bucket\b/i;

/** Runs programs on one SQLite connection. Statement texts are constants, so the cache holds as many as the code has. */
export class SqliteSession {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, Prepared>();
  #bucketsChanged = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** `onWrite` is called before the first change. */
  run<Result>(program: Program<Result>, onWrite?: () => void): Result {
    let written = false;
    let step = program.next([]);
    while (!step.done) {
      if (step.value.kind === 'write' && !written) {
        written = true;
        onWrite?.();
      }
      step = program.next(this.#rows(step.value));
    }
    return step.value;
  }

  /** Whether a row of a bucket was written, perhaps undone since, after this was last asked. */
  takeBucketsChanged(): boolean {
    const changed = this.#bucketsChanged;
    this.#bucketsChanged = false;
    return changed;
  }

  #rows(statement: Statement): readonly Row[] {
    if (statement.kind === 'lock' || statement.kind === 'shared-lock') return []; // there is one writer
    const { statement: prepared, columns, changesBuckets } = this.#prepare(statement.text);
    if (statement.kind === 'write' && changesBuckets) this.#bucketsChanged = true;
    // Arrays, as `#prepare` asks for; no column of ours is read as a bigint.
    const rows = prepared.all(...statement.values) as unknown as readonly (readonly SqlValue[])[];
    return rows.map((values) => toRow(columns, values));
  }

  #prepare(text: string): Prepared {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text.replace(/\{index (\w+)\}/, 'indexed by $1'));
    // The objects that Node.js would make of rows cost twice as much as its arrays and ours.
    statement.setReturnArrays(true);
    const columns = statement.columns().map(({ name }) => name);
    const prepared = { statement, columns, changesBuckets: CHANGES_BUCKETS.test(text) };
    this.#statements.set(text, prepared);
    return prepared;
  }
}

function toRow(columns: readonly string[], values: readonly SqlValue[]): Row {
  const row: Record<string, SqlValue | undefined> = {};
  let index = 0; // a count: `entries` would make an array for each value
  for (const column of columns) {
    row[column] = values[index];
    index += 1;
  }
  return row;
}
