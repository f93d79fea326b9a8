import { S3ServiceException } from '@aws-sdk/client-s3';
import { isAppError } from '@svc/errors';
import { storeErrors } from '../../../errors.ts';

/** An answer of the engine other than success. */
export class EngineError extends Error {
  readonly status: number;
  /** Such as `NoSuchKey`; empty if the engine sent none. */
  readonly code: string;

  constructor(status: number, code: string) {
    super(`the engine answered ${status} ${code}`.trimEnd());
    this.name = 'EngineError';
    this.status = status;
    this.code = code;
  }
}

/** In seconds: a restarting engine is back after a few of these. */
export const RETRY_AFTER = { 'retry-after': '5' } as const;

/** Maps an upstream failure to a store error; the upstream's message stays in the cause. */
export function toStoreError(error: unknown): Error {
  if (isAppError(error)) return error;
  if (isFull(error)) return storeErrors.InsufficientStorage({ cause: error });
  return storeErrors.ProviderUnavailable({ cause: error, headers: RETRY_AFTER });
}

export function isAbsent(error: unknown): boolean {
  return codeOf(error) === 'NoSuchKey' || statusOf(error) === 404;
}

/** Whether the engine answered at all, even with an error: then it is reachable. */
export function isAnswer(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && status < 500 && status !== 429;
}

export function isOutOfRange(error: unknown): boolean {
  return statusOf(error) === 416;
}

function isFull(error: unknown): boolean {
  const code = codeOf(error);
  return statusOf(error) === 507 || code === 'QuotaExceeded' || code === 'XMinioStorageFull';
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof EngineError) return error.status;
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof EngineError) return error.code;
  return error instanceof S3ServiceException ? error.name : undefined;
}
