/** `ENOSPC` and `EDQUOT` of the file system, `SQLITE_FULL`, PostgreSQL's `disk_full`. */
export function isDiskFull(error: unknown): boolean {
  const { code, errcode } = codesOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT' || errcode === SQLITE_FULL || code === '53100';
}

const FAULTS: ReadonlySet<unknown> = new Set(['EIO', 'EROFS', 'ENXIO', 'EUCLEAN', '58030']);
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_FULL = 13;

/** The disk cannot read or write, or takes nothing more because it could not before. Also SQLite's and PostgreSQL's words. */
export function isDiskFault(error: unknown): boolean {
  const { code, errcode } = codesOf(error);
  // The low byte is SQLite's primary code (sqlite.org/rescode.html).
  const primary = typeof errcode === 'number' ? errcode & 0xff : 0;
  return FAULTS.has(code) || primary === SQLITE_IOERR || primary === SQLITE_READONLY;
}

function codesOf(error: unknown): { code?: unknown; errcode?: unknown } {
  return typeof error === 'object' && error !== null ? error : {}; // foreign errors; each field is compared only
}
