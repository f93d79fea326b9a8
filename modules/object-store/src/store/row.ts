import type { Row } from './program.ts';

/** Checked reads of single columns: a row that does not match the schema is an error, never a guess. */
export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw unexpected(column, value);
  return value;
}

export function textOrNull(row: Row, column: string): string | null {
  const value = row[column];
  if (value === null) return null;
  return text(row, column);
}

export function integer(row: Row, column: string): number {
  const value = row[column];
  if (typeof value === 'number') return value;
  // PostgreSQL returns sums as numeric, which arrives as text.
  if (typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return Number(value);
  throw unexpected(column, value);
}

export function integerOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : integer(row, column);
}

export function bytesOrNull(row: Row, column: string): Uint8Array | null {
  const value = row[column];
  if (value === null) return null;
  if (!(value instanceof Uint8Array)) throw unexpected(column, value);
  return value;
}

export function flag(row: Row, column: string): boolean {
  return integer(row, column) === 1;
}

function unexpected(column: string, value: unknown): Error {
  return new Error(`column ${column} holds ${value === undefined ? 'nothing' : typeof value}`);
}
