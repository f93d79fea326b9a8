import type { MetadataCommands, MetadataQueries } from '../domain/ports/metadata-store.ts';

export type SqlValue = string | number | null | Uint8Array;
export type Row = Readonly<Record<string, SqlValue | undefined>>;

export interface Statement {
  /** Locks name what must not change concurrently. PostgreSQL takes them; SQLite has a single writer and needs none. */
  readonly kind: 'read' | 'write' | 'lock' | 'shared-lock';
  readonly text: string;
  readonly values: readonly SqlValue[];
}

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

export function* lock(name: string): Program<void> {
  yield { kind: 'lock', text: name, values: [] };
}

export function* lockShared(name: string): Program<void> {
  yield { kind: 'shared-lock', text: name, values: [] };
}
