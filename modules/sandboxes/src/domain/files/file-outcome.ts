import type { Outcome } from '../helper/helper-stream.ts';
import { sandboxErrors } from '../../errors.ts';

/** Returns the result of a file operation, or throws the error that matches the helper's code. */
export function resultOf(outcome: Outcome, path: string): Readonly<Record<string, unknown>> {
  if (outcome.ok) return outcome.result;
  const details = { path: outcome.path ?? path };
  switch (outcome.code) {
    case 'NOT_FOUND':
      throw sandboxErrors.PATH_NOT_FOUND({ details });
    case 'ACCESS_DENIED':
      throw sandboxErrors.PATH_ACCESS_DENIED({ details });
    case 'NOT_A_DIRECTORY':
      throw sandboxErrors.NOT_A_DIRECTORY({ details });
    case 'IS_A_DIRECTORY':
      throw sandboxErrors.IS_A_DIRECTORY({ details });
    case 'NOT_A_FILE':
      throw sandboxErrors.NOT_A_FILE({ details });
    case 'ALREADY_EXISTS':
      throw sandboxErrors.PATH_EXISTS({ details });
    case 'PRECONDITION_FAILED':
      throw sandboxErrors.PRECONDITION_FAILED({ details });
    case 'NOT_EMPTY':
      throw sandboxErrors.DIRECTORY_NOT_EMPTY({ details });
    case 'PROTECTED_PATH':
      throw sandboxErrors.PROTECTED_PATH({ details });
    case 'DISK_FULL':
      throw sandboxErrors.DISK_FULL();
    case 'INVALID_PATH':
      throw sandboxErrors.INVALID_PATH({ details: { field: 'path', reason: outcome.message } });
    case 'NO_SUCH_USER':
      throw sandboxErrors.USER_NOT_FOUND({ details: { field: 'user', reason: outcome.message } });
    case 'INVALID_CURSOR':
      throw sandboxErrors.INVALID_FIELD({ details: { field: 'cursor', reason: outcome.message } });
    case 'ARCHIVE_REFUSED':
    case 'ARCHIVE_MALFORMED':
      throw sandboxErrors.INVALID_ARCHIVE({ details: { reason: outcome.message } });
    case 'ARCHIVE_TOO_LARGE':
      throw sandboxErrors.ARCHIVE_TOO_LARGE({ details: { reason: outcome.message } });
    case 'LIMIT_REACHED':
      throw sandboxErrors.NO_CAPACITY({ details: { reason: outcome.message } });
    case 'LOST':
      throw sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status: 'no longer reachable' } });
    case 'VOLUME_LOST':
      throw sandboxErrors.VOLUME_UNREACHABLE({ headers: { 'retry-after': '1' } });
    default:
      throw sandboxErrors.FILE_OPERATION_FAILED({ details: { reason: outcome.message } });
  }
}
