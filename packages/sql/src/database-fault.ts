/** Database errors that a caller can handle. */
export type DatabaseFault =
  | { readonly kind: 'unique'; readonly table: string; readonly constraint: string | null; readonly columns: string[] }
  | { readonly kind: 'foreign-key' }
  /** Conflict with another transaction (serialization, deadlock, lock): a retry may succeed. */
  | { readonly kind: 'conflict' }
  /** Text that the database cannot store because it contains NUL. */
  | { readonly kind: 'text' }
  | { readonly kind: 'disk-full' }
  /** The disk cannot be read or written. */
  | { readonly kind: 'disk' }
  /** The file is not a database, or its content is malformed. */
  | { readonly kind: 'damaged' }
  /** The server cannot be reached, is starting or stopping, or ended the connection: a later retry may succeed. */
  | { readonly kind: 'unavailable' };

/** A unique constraint as declared by its migration: PostgreSQL reports the constraint, SQLite the columns. */
export interface UniqueKey {
  readonly constraint: string;
  readonly table: string;
  readonly columns: readonly string[];
}

/** SQLite's extended codes first, then the primary ones in their low byte (https://sqlite.org/rescode.html). */
const SQLITE_FOREIGN_KEY = 787;
const SQLITE_UNIQUE: ReadonlySet<number> = new Set([1555, 2067, 2579]);
const SQLITE_KINDS: Readonly<Record<number, 'conflict' | 'disk' | 'disk-full' | 'damaged'>> = {
  5: 'conflict',
  6: 'conflict',
  8: 'disk',
  10: 'disk',
  11: 'damaged',
  13: 'disk-full',
  26: 'damaged',
};

/** SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const POSTGRES_KINDS: Readonly<Record<string, Exclude<DatabaseFault['kind'], 'unique'>>> = {
  '22021': 'text',
  '22P05': 'text', // a NUL escape in JSON
  '25P03': 'unavailable', // the transaction paused for too long, and the server ended the connection
  '25006': 'unavailable', // a standby, or a server that became one: the next connection finds the primary
  '23503': 'foreign-key',
  '40001': 'conflict',
  '40P01': 'conflict',
  '55P03': 'conflict',
  '53100': 'disk-full',
  '53300': 'unavailable', // too many connections
  '57P01': 'unavailable', // the server stops, or an administrator ended the connection
  '57P02': 'unavailable', // another server process crashed
  '57P03': 'unavailable', // the server starts, stops or recovers
  '58030': 'disk',
};
/** Class 08: connection exceptions. */
const CONNECTION_EXCEPTION = /^08[0-9A-Z]{3}$/;
/** The code of `sqlErrors.DATABASE_UNAVAILABLE`, which stands for driver errors without an SQLSTATE. */
const UNAVAILABLE_CODE = 'DATABASE_UNAVAILABLE';
const POSTGRES_UNIQUE = '23505';
/** The code of `sqlErrors.SCHEMA_CHANGED`. */
const SCHEMA_CHANGED_CODE = 'SCHEMA_CHANGED';

/** Classifies an error by the database's error code, never by its message; null for anything else. */
export function parseDatabaseFault(error: unknown): DatabaseFault | null {
  if (!(error instanceof Error)) return null;
  if ('errcode' in error && typeof error.errcode === 'number') return parseSqliteFault(error.errcode, error.message);
  if (!('code' in error) || typeof error.code !== 'string') return null;
  if (error.code === POSTGRES_UNIQUE) {
    return { kind: 'unique', table: readText(error, 'table'), constraint: readText(error, 'constraint'), columns: [] };
  }
  if (error.code === UNAVAILABLE_CODE || CONNECTION_EXCEPTION.test(error.code)) return { kind: 'unavailable' };
  if (error.code === SCHEMA_CHANGED_CODE) return { kind: 'conflict' };
  const kind = POSTGRES_KINDS[error.code];
  return kind === undefined ? null : { kind };
}

/** Whether the error means that a row with the same values of this key exists. */
export function violatesUnique(error: unknown, key: UniqueKey): boolean {
  const fault = parseDatabaseFault(error);
  if (fault?.kind !== 'unique' || fault.table !== key.table) return false;
  if (fault.constraint !== null) return fault.constraint === key.constraint;
  return fault.columns.length === key.columns.length && fault.columns.every((name) => key.columns.includes(name));
}

/** Whether the error means that a referenced row is missing, or that the row is still referenced. */
export function violatesForeignKey(error: unknown): boolean {
  return parseDatabaseFault(error)?.kind === 'foreign-key';
}

/** SQLite reports the columns of a violated key only in its message: `UNIQUE constraint failed: t.a, t.b`. */
function parseSqliteFault(code: number, message: string): DatabaseFault | null {
  if (SQLITE_UNIQUE.has(code)) {
    const columns = message.slice(message.indexOf(': ') + 2).split(', ');
    const table = columns[0]?.split('.')[0] ?? '';
    return { kind: 'unique', table, constraint: null, columns: columns.map((name) => name.slice(table.length + 1)) };
  }
  if (code === SQLITE_FOREIGN_KEY) return { kind: 'foreign-key' };
  const kind = SQLITE_KINDS[code & 0xff];
  return kind === undefined ? null : { kind };
}

function readText(error: Error, name: 'table' | 'constraint'): string {
  const value: unknown = Object.getOwnPropertyDescriptor(error, name)?.value;
  return typeof value === 'string' ? value : '';
}
