import { sandboxErrors } from '../../errors.ts';

/** The error that matches a failure of the helper. */
export function processError({ code, message: reason }: { readonly code: string; readonly message: string }): Error {
  switch (code) {
    case 'NO_SUCH_PROCESS':
      return sandboxErrors.PROCESS_NOT_FOUND();
    case 'INPUT_CLOSED':
      return sandboxErrors.PROCESS_INPUT_CLOSED();
    case 'NO_SUCH_USER':
      return sandboxErrors.USER_NOT_FOUND({ details: { field: 'user', reason } });
    case 'INVALID_DIRECTORY':
      return sandboxErrors.INVALID_FIELD({ details: { field: 'cwd', reason } });
    case 'INVALID_ENVIRONMENT':
      return sandboxErrors.INVALID_FIELD({ details: { field: 'env', reason } });
    case 'INVALID_COMMAND':
      return sandboxErrors.INVALID_FIELD({ details: { field: 'process', reason } });
    case 'COMMAND_NOT_FOUND':
    case 'COMMAND_NOT_EXECUTABLE':
      return sandboxErrors.COMMAND_NOT_FOUND({ details: { field: 'command', reason } });
    case 'LIMIT_REACHED':
      return sandboxErrors.NO_CAPACITY({ details: { reason } });
    case 'LOST':
    case 'ABORTED':
      return sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status: 'no longer reachable' } });
    default:
      return sandboxErrors.PROCESS_FAILED({ details: { reason } });
  }
}
