import { AppError } from '@svc/errors';
import type { FastifyRequest } from 'fastify';

/** Where S3 and REST use different statuses for the same error, these routes follow REST. */
const STATUSES: Readonly<Record<string, number>> = { EntityTooLarge: 413, SlowDown: 429 };

const RETRY_AFTER_SECONDS = '1';

/** Converts a store error for this API: adds the resource, and `Retry-After` to errors worth retrying. */
export function toManagementError(error: AppError, request: FastifyRequest): AppError {
  const status = STATUSES[error.code] ?? error.status;
  const resource = error.details['resource'] ?? readResource(request);
  const retry = status === 429 || status === 503;
  return new AppError({
    code: error.code,
    status,
    message: error.message,
    details: { ...error.details, resource },
    headers: { ...(retry ? { 'retry-after': RETRY_AFTER_SECONDS } : {}), ...error.headers },
    cause: error.cause ?? error,
  });
}

/** `bucket` or `bucket/key`; null if the request names no bucket. */
function readResource({ params, query }: FastifyRequest): string | null {
  const { name } = (params ?? {}) as { name?: unknown }; // unvalidated; checked below
  if (typeof name !== 'string') return null;
  const { key } = (query ?? {}) as { key?: unknown }; // likewise unvalidated
  return typeof key === 'string' ? `${name}/${key}` : name;
}
