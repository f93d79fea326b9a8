import { isAppError } from '@svc/errors';
import { sqlErrors } from './errors.ts';

/** SQLite's primary result codes (https://sqlite.org/rescode.html), which are the low byte of extended ones. */
const SQLITE_CODES: Readonly<Record<number, keyof typeof sqlErrors.entries>> = {
  5: 'DATABASE_BUSY',
  8: 'DATABASE_READ_ONLY',
  11: 'DATABASE_DAMAGED',
  13: 'DATABASE_FULL',
  14: 'DATABASE_NOT_FOUND',
  26: 'DATABASE_DAMAGED',
};

const SYSTEM_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT', // a missing Unix socket
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
]);

/**
 * Converts a failure to open a database into a one-line error; `location` contains no credentials. Returns unknown
 * errors unchanged.
 */
export function explainFailure(location: string, cause: unknown): unknown {
  if (isAppError(cause) && cause.code === 'DATABASE_UNAVAILABLE') return explainFailure(location, cause.cause);
  if (isAppError(cause) || !(cause instanceof Error)) return cause;
  const details = { location, reason: cause.message };
  if ('errcode' in cause && typeof cause.errcode === 'number') {
    const known = SQLITE_CODES[cause.errcode & 0xff];
    return known === undefined ? cause : sqlErrors[known]({ details, cause });
  }
  const code = 'code' in cause ? String(cause.code) : '';
  if (SYSTEM_CODES.has(code)) return sqlErrors.DATABASE_UNREACHABLE({ details: { location, reason: code }, cause });
  // `pg` and its pool give these failures no code.
  if (/^timeout exceeded when trying to connect$|^timeout expired$|^Connection terminated/.test(cause.message)) {
    return sqlErrors.DATABASE_UNREACHABLE({ details, cause });
  }
  // PostgreSQL: class 28 is a wrong user or password, 3D000 an unknown database, 57P03 a server that is starting or
  // stopping.
  if (code.startsWith('28') || code === '3D000') return sqlErrors.DATABASE_REFUSED({ details, cause });
  if (code === '57P03') return sqlErrors.DATABASE_UNREACHABLE({ details, cause });
  return cause;
}
