import type { MetadataCommands, MetadataQueries } from '../domain/ports/metadata-store.ts';

export type SqlValue = string | number | null | Uint8Array;
export type Row = Readonly<Record<string, SqlValue | undefined>>;

/** Names what must not change concurrently. PostgreSQL takes locks; SQLite has a single writer and needs none. */
export interface Lock {
  readonly name: string;
  readonly shared: boolean;
}

/** A step of a program. The result is the rows of `read` and `write`, and empty for all others. */
export type Statement =
  | { readonly kind: 'read' | 'write'; readonly text: string; readonly values: readonly SqlValue[] }
  /** A write without rows: PostgreSQL sends it without waiting for its result. */
  | { readonly kind: 'send'; readonly text: string; readonly values: readonly SqlValue[] }
  /**
   * Adds amounts to the counters of one row. `text` takes the amounts, then the key. PostgreSQL sums the additions to a
   * row and writes them at the end of the transaction, in the order of text and key: many transactions change these
   * rows, which stay locked until the commit.
   */
  | { readonly kind: 'add'; readonly text: string; readonly amounts: readonly number[]; readonly key: string | number }
  /**
   * The first statement of a program that may share its transaction with others, which run at the same time: it reads
   * and writes only what these locks guard.
   */
  | { readonly kind: 'claim'; readonly locks: readonly Lock[] }
  | { readonly kind: 'lock'; readonly locks: readonly Lock[] };

/**
 * Part of a transaction, written once for both databases: it yields statements and receives their rows. SQLite runs it
 * without interruption, PostgreSQL between round trips. Statements are constants with `?` for each value, so that they
 * stay prepared; an index hint for SQLite's planner is written `{index name}`.
 */
export type Program<Result> = Generator<Statement, Result, readonly Row[]>;

/** The program type for each method of a port. */
export type ProgramsOf<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (input: infer Input) => Promise<infer Result>
    ? (input: Input) => Program<Result>
    : never;
};

export type CommandPrograms = ProgramsOf<MetadataCommands>;
export type QueryPrograms = ProgramsOf<MetadataQueries>;

export function* all(text: string, ...values: SqlValue[]): Program<readonly Row[]> {
  return yield { kind: 'read', text, values };
}

export function* first(text: string, ...values: SqlValue[]): Program<Row | undefined> {
  const rows = yield { kind: 'read', text, values };
  return rows[0];
}

/** A write. Its rows are those of `returning`. */
export function* change(text: string, ...values: SqlValue[]): Program<readonly Row[]> {
  return yield { kind: 'write', text, values };
}

/** A write whose outcome the program does not need. */
export function* send(text: string, ...values: SqlValue[]): Program<void> {
  yield { kind: 'send', text, values };
}

/** Adds to counters. Reads of the same program see them; those of others in the transaction may not. */
export function* add(text: string, amounts: readonly number[], key: string | number): Program<void> {
  yield { kind: 'add', text, amounts, key };
}

/** Takes locks in an order that all transactions share. Must be the first statement. */
export function* claim(...locks: readonly Lock[]): Program<void> {
  yield { kind: 'claim', locks };
}

export function* lock(name: string): Program<void> {
  yield { kind: 'lock', locks: [{ name, shared: false }] };
}
