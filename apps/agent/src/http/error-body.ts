import { isAppError, type AppError } from '@svc/errors';
import { agentErrors } from '../errors.ts';

export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: { error: { code: string; message: string; details: Record<string, unknown> } };
}

/** The contract's error body. An error outside the catalogue becomes INTERNAL, without its message. */
export function errorAnswer(error: unknown): ErrorAnswer {
  const known: AppError = isAppError(error) ? error : agentErrors.INTERNAL({ cause: error });
  const { code, message, details, status, headers } = known;
  return { status, headers, body: { error: { code, message, details } } };
}
