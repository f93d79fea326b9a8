import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Of one connection; what was not used for the longest time goes. */
const MAX_STATEMENTS = 128;
/** Texts that go with the number of rows are seldom the same twice. */
const MAX_TEXT_LENGTH = 8192;

/** What is compiled the same every time, and does nothing before it runs. Some pragmas work while they are compiled. */
const REPEATABLE = /^\s*(?:select|insert|update|delete|with|begin|commit|rollback)\b/i;

export interface KeptStatement {
  readonly statement: StatementSync;
  readonly isReader: boolean;
}

/**
 * Compiled statements of one connection by their text: compiling one takes longer than running it. A statement that
 * changes the schema forgets them all, since what they answer may have other columns.
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

  /** One for a caller alone, who reads from it while others run the same text. */
  compile(text: string): StatementSync {
    return this.#database.prepare(text);
  }
}
