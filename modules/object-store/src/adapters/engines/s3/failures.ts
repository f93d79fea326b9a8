import { S3ServiceException } from '@aws-sdk/client-s3';
import { isAppError } from '@svc/errors';
import { storeErrors } from '../../../errors.ts';

/** In seconds: a restarting engine is back after a few of these. */
export const RETRY_AFTER = { 'retry-after': '5' } as const;

/** Maps an upstream failure to a store error; the upstream's message stays in the cause. */
export function toStoreError(error: unknown): Error {
  if (isAppError(error)) return error;
  if (isFull(error)) return storeErrors.InsufficientStorage({ cause: error });
  return storeErrors.ProviderUnavailable({ cause: error, headers: RETRY_AFTER });
}

export function isAbsent(error: unknown): boolean {
  return error instanceof S3ServiceException && (error.name === 'NoSuchKey' || statusOf(error) === 404);
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
  if (!(error instanceof S3ServiceException)) return false;
  return statusOf(error) === 507 || error.name === 'QuotaExceeded' || error.name === 'XMinioStorageFull';
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}
