import { isAppError } from '@svc/errors';

/** One line, a hint inside it, no stack: a stack is for faults of ours, and then it is wanted whole. */
export function describeFailure(error: unknown): string {
  if (isAppError(error) && error.code !== 'internal_error') return `svc: ${error.message}`;
  if (error instanceof Error) return `svc: unexpected failure: ${error.stack ?? error.message}`;
  return `svc: unexpected failure: ${String(error)}`;
}
