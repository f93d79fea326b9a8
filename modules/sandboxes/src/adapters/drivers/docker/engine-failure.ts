import { isAppError, type AppError } from '@svc/errors';
import { sandboxErrors, type CauseCode } from '../../../errors.ts';

/** What an engine refused as an error of the module: of that code, unless its words tell more. */
export function engineFailure(error: unknown, code: CauseCode): AppError {
  if (isAppError(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const full = /no space left|quota exceeded/i.test(reason);
  return sandboxErrors[full ? 'DISK_FULL' : code]({ details: { reason }, cause: error });
}
