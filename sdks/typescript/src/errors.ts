/**
 * Base class of all errors that SDK calls throw:
 *
 * ```
 * SvcError
 * ├── ApiError                the platform returned an error; see its subclasses
 * ├── CommandFailedError      a cluster's agent could not do what was requested
 * ├── NetworkError            no response: refused, reset, name not found
 * ├── TimeoutError            no response within the time limit
 * └── UnexpectedAnswerError   a response that violates the API, such as a proxy's error page
 * ```
 *
 * A call aborted by the caller rejects with the signal's reason, like `fetch`.
 *
 * @example
 * ```ts
 * try {
 *   await svc.sandboxes.get(id);
 * } catch (error) {
 *   if (error instanceof NotFoundError) return null;
 *   throw error;
 * }
 * ```
 */
export class SvcError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The fields of an `ApiError`. */
export interface ApiErrorFields {
  /** HTTP status of the response. */
  status: number;
  /** Stable identifier for programs, such as `NOT_FOUND`. */
  code: string;
  /** A sentence for people. */
  message: string;
  /** Identifies the request in the platform's log; null if the response has none. */
  requestId: string | null;
  /** Further fields of the error, such as `field` or `issues`; empty if there are none. */
  details: Readonly<Record<string, unknown>>;
  /** Value of `Retry-After`; null if absent. */
  retryAfterSeconds: number | null;
}

/** The platform returned an error. */
export class ApiError extends SvcError {
  /** HTTP status of the response. */
  readonly status: number;
  /** Stable identifier for programs, such as `NOT_FOUND`. */
  readonly code: string;
  /** Identifies the request in the platform's log; null if the response has none. */
  readonly requestId: string | null;
  /** Further fields of the error, such as `field` or `issues`; empty if there are none. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Value of `Retry-After`; null if absent. */
  readonly retryAfterSeconds: number | null;

  constructor(fields: ApiErrorFields) {
    super(fields.message);
    this.status = fields.status;
    this.code = fields.code;
    this.requestId = fields.requestId;
    this.details = fields.details;
    this.retryAfterSeconds = fields.retryAfterSeconds;
  }
}

/** 400 and 422: the request is invalid. */
export class InvalidRequestError extends ApiError {}
/** 401: the credential is missing, wrong, revoked or expired. */
export class UnauthorizedError extends ApiError {}
/** 403: the caller is not allowed to do this. */
export class ForbiddenError extends ApiError {}
/** 404: the resource does not exist or belongs to someone else; the platform never reveals which. */
export class NotFoundError extends ApiError {}
/** 409: the resource's state does not allow this, such as a name that is taken. */
export class ConflictError extends ApiError {}
/** 429: too many requests. Retry after `retryAfterSeconds`. */
export class RateLimitedError extends ApiError {}
/** 5xx: a fault of the platform. Include `requestId` when reporting it. */
export class ServerError extends ApiError {}

/** An exec, deployment or log read failed; `status` is its final state, such as `timed_out`. */
export class CommandFailedError extends SvcError {
  /** Final state of the command, such as `timed_out`. */
  readonly status: string;
  /** Stable identifier of the agent's error. */
  readonly code: string;

  constructor(status: string, { code, message }: { code: string; message: string }) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** No response: connection refused or reset, or name not found. */
export class NetworkError extends SvcError {}
/** No response within the time limit. */
export class TimeoutError extends SvcError {}
/** A response that violates the API, such as a proxy's error page. */
export class UnexpectedAnswerError extends SvcError {}

type ApiErrorClass = new (fields: ApiErrorFields) => ApiError;

const CLASS_OF_STATUS: ReadonlyMap<number, ApiErrorClass> = new Map([
  [400, InvalidRequestError],
  [401, UnauthorizedError],
  [403, ForbiddenError],
  [404, NotFoundError],
  [409, ConflictError],
  [422, InvalidRequestError],
  [429, RateLimitedError],
]);

/** Creates the error class for the status. */
export function createApiError(fields: ApiErrorFields): ApiError {
  const fallback = fields.status >= 500 ? ServerError : ApiError;
  return new (CLASS_OF_STATUS.get(fields.status) ?? fallback)(fields);
}
