import { isAppError, type AppError } from '@svc/errors';
import { parseDatabaseFault } from './database-fault.ts';
import { sqlErrors } from './errors.ts';

const RETRY_AFTER_SECONDS = '1';

/**
 * Converts an error of `pg` for callers. Every way to lose the server becomes `DATABASE_UNAVAILABLE`, since the driver
 * reports most of them without a code: pass `connectionLost` if the connection can no longer be used.
 */
export function toSqlError<Thrown>(error: Thrown, connectionLost: boolean): Thrown | AppError {
  if (isAppError(error)) return error;
  const kind = parseDatabaseFault(error)?.kind;
  if (kind === 'text') return sqlErrors.INVALID_TEXT({ cause: error });
  if (kind === 'unavailable' || connectionLost) {
    return unavailable(error);
  }
  return error;
}

/** The error for a database that is away, which says when to try again. */
export function unavailable(cause: unknown): AppError {
  return sqlErrors.DATABASE_UNAVAILABLE({ cause, headers: { 'retry-after': RETRY_AFTER_SECONDS } });
}

/** Whether the server sent the error. Otherwise it comes from the driver or the socket. */
export function isServerError(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && typeof error.severity === 'string';
}

/** Errors of the driver mean a lost connection, except for values that it cannot convert. */
export function isDriverError(error: unknown): boolean {
  return !isAppError(error) && !isServerError(error) && !(error instanceof TypeError) && !(error instanceof RangeError);
}

/** Whether the error means that the database is away; see `DatabaseFault`. */
export function isUnavailable(error: unknown): boolean {
  return parseDatabaseFault(error)?.kind === 'unavailable';
}
