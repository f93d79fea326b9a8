/**
 * What a call of the SDK can throw:
 *
 *     SvcError
 *     ├── ApiError            the platform answered with an error; see its subclasses for the usual ones
 *     ├── CommandFailedError  what a cluster's agent was asked to do, and could not
 *     ├── NetworkError        no answer: refused, reset, name not found
 *     ├── TimeoutError        no answer within the time the caller allowed
 *     └── UnexpectedAnswerError   an answer that is not what the API promises, such as a proxy's own page
 *
 * A call that the caller itself aborted rejects with the signal's reason, as `fetch` does.
 */
export class SvcError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

export interface ApiErrorFields {
  status: number;
  /** Stable and meant for programs, such as `NOT_FOUND`. */
  code: string;
  /** One sentence, meant for people. */
  message: string;
  /** Names the request in the platform's log; null when the answer carried none. */
  requestId: string | null;
  details: Readonly<Record<string, unknown>>;
  /** From `Retry-After`; null when the answer carried none. */
  retryAfterSeconds: number | null;
}

export class ApiError extends SvcError {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
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

/** 400 and 422: the request is not valid. */
export class InvalidRequestError extends ApiError {}
/** 401: no credential, or one that is wrong, revoked or expired. */
export class UnauthorizedError extends ApiError {}
/** 403: the caller is known, and may not do this. */
export class ForbiddenError extends ApiError {}
/** 404: it does not exist, or it is another's; the platform never says which. */
export class NotFoundError extends ApiError {}
/** 409: the state of the thing does not allow it, such as a name that is taken. */
export class ConflictError extends ApiError {}
/** 429: too many requests; `retryAfterSeconds` says when to try again. */
export class RateLimitedError extends ApiError {}
/** 5xx: the platform's fault. Quote `requestId` when reporting it. */
export class ServerError extends ApiError {}

/** An exec, a deployment or the reading of a log that did not succeed; `status` is its final state, such as `timed_out`. */
export class CommandFailedError extends SvcError {
  readonly status: string;
  readonly code: string;

  constructor(status: string, { code, message }: { code: string; message: string }) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export class NetworkError extends SvcError {}
export class TimeoutError extends SvcError {}
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

/** The error of the class that fits the status. */
export function apiErrorOf(fields: ApiErrorFields): ApiError {
  const fallback = fields.status >= 500 ? ServerError : ApiError;
  return new (CLASS_OF_STATUS.get(fields.status) ?? fallback)(fields);
}
