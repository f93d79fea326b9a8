import { AppError } from '@svc/errors';
import type { FastifyRequest } from 'fastify';

/** Where S3 and REST differ about the status of one refusal, these routes go with REST. */
const STATUSES: Readonly<Record<string, number>> = { EntityTooLarge: 413, SlowDown: 429 };

const RETRY_AFTER_SECONDS = '1';

/** The store's errors as this API answers them: what was acted on is named, and who shall come again is told when. */
export function toManagementError(error: AppError, request: FastifyRequest): AppError {
  const status = STATUSES[error.code] ?? error.status;
  const resource = error.details['resource'] ?? resourceOf(request);
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

/** `bucket` or `bucket/key`; null for what is about neither. */
function resourceOf({ params, query }: FastifyRequest): string | null {
  const { name } = (params ?? {}) as { name?: unknown }; // only looked at, in a request that was refused
  if (typeof name !== 'string') return null;
  const { key } = (query ?? {}) as { key?: unknown }; // likewise
  return typeof key === 'string' ? `${name}/${key}` : name;
}
