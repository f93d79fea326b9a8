import { isAppError, type AppError } from '@svc/errors';
import { sandboxErrors, type CauseCode } from '../../../errors.ts';

/** Converts an engine error to a module error with `code`, unless its message is more specific. */
export function engineFailure(error: unknown, code: CauseCode): AppError {
  if (isAppError(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const full = /no space left|quota exceeded/i.test(reason);
  return sandboxErrors[full ? 'DISK_FULL' : code]({ details: { reason }, cause: error });
}
