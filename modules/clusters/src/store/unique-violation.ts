/** True when an insert met a row that is there already: SQLite's extended codes 1555 and 2067, PostgreSQL's 23505. */
export function isUniqueViolation(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if ('code' in error && error.code === '23505') return true;
  return 'errcode' in error && (error.errcode === 1555 || error.errcode === 2067);
}

/** Somebody deleted the row that this one belongs to: SQLite's 787, PostgreSQL's 23503. */
export function isForeignKeyViolation(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if ('code' in error && error.code === '23503') return true;
  return 'errcode' in error && error.errcode === 787;
}
