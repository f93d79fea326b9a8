import type { AppError } from '@svc/errors';

/** Turns an error into the body that the contract of a route family promises. The status is never changed. */
export type ErrorRenderer = (error: AppError, requestId: string) => unknown;

/** Sandboxes and accounts: `error` is a string, since clients in use decode it so. */
export const renderFlatError: ErrorRenderer = (error, requestId) => ({
  error: error.message,
  code: error.code,
  message: error.message,
  status: error.status,
  request_id: requestId,
  details: error.details,
});

/** Clusters and the agent: `{"error":{"code","message","details":{"field","reason"}}}`. */
export const renderNestedError: ErrorRenderer = (error) => ({
  error: { code: error.code, message: error.message, details: error.details },
});

/** Object store management: the envelope of its contract. */
export const renderEnvelopeError: ErrorRenderer = (error, requestId) => {
  const { resource, issues, field, reason, ...rest } = error.details;
  const details = issues ?? (field === undefined ? [] : [{ field, issue: reason ?? error.message }]);
  return {
    success: false,
    message: error.message,
    data: { code: error.code, request_id: requestId, resource: resource ?? null, details, ...rest },
  };
};
