import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Per connection; the least recently used is evicted. */
const MAX_STATEMENTS = 128;
/** Statements whose text depends on the number of rows rarely repeat. */
const MAX_TEXT_LENGTH = 8192;

/** Statements that compile deterministically and have no effect before they run. Some pragmas act while compiling. */
const REPEATABLE = /^\s*(?:select|insert|update|delete|with|begin|commit|rollback)\b/i;

/** A compiled statement, and whether it returns rows. */
export interface KeptStatement {
  readonly statement: StatementSync;
  readonly isReader: boolean;
}

/**
 * Caches compiled statements of one connection by text: compiling takes longer than running. A schema change clears the
 * cache, since results may have other columns.
 */
export class StatementCache {
  readonly #database: DatabaseSync;
  readonly #kept = new Map<string, KeptStatement>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get(text: string): KeptStatement {
    const known = this.#kept.get(text);
    if (known !== undefined) {
      this.#kept.delete(text);
      this.#kept.set(text, known);
      return known;
    }
    if (!REPEATABLE.test(text)) this.#kept.clear();
    const statement = this.compile(text);
    const made = { statement, isReader: statement.columns().length > 0 };
    if (!REPEATABLE.test(text) || text.length > MAX_TEXT_LENGTH) return made;
    this.#kept.set(text, made);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_STATEMENTS) break;
      this.#kept.delete(oldest);
    }
    return made;
  }

  /** Compiles a statement for exclusive use, for reading from it while others run the same text. */
  compile(text: string): StatementSync {
    return this.#database.prepare(text);
  }
}
