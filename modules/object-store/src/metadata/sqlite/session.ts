import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Program, Row, Statement } from '../program.ts';

/** Runs programs on one SQLite connection. Statement texts are constants, so the cache holds as many as the code has. */
export class SqliteSession {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

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

  #rows(statement: Statement): readonly Row[] {
    if (statement.kind === 'lock' || statement.kind === 'shared-lock') return []; // there is one writer
    const prepared = this.#prepare(statement.text);
    return prepared.all(...statement.values) as unknown as Row[]; // no column of ours is read as a bigint
  }

  #prepare(text: string): StatementSync {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const prepared = this.#database.prepare(text.replace(/\{index (\w+)\}/, 'indexed by $1'));
    this.#statements.set(text, prepared);
    return prepared;
  }
}
