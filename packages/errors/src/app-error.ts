export interface AppErrorOptions {
  code: string;
  status: number;
  message: string;
  /** Extra fields for the reader of the answer: `field`, `reason`, limits. Never secrets, never internals. */
  details?: Record<string, unknown>;
  /** Headers that belong to the refusal, such as `retry-after` (seconds). */
  headers?: Record<string, string>;
  cause?: unknown;
  /** True when the same request may succeed later without a change. */
  retryable?: boolean;
}

/**
 * The one error that travels through the product. A renderer per protocol turns it into an answer; what is not an
 * `AppError` is a fault of ours and is answered as `internal_error`.
 */
export class AppError extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: Record<string, unknown>;
  readonly headers: Record<string, string>;
  readonly retryable: boolean;

  constructor(options: AppErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = options.code;
    this.status = options.status;
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
    this.retryable = options.retryable ?? (options.status === 429 || options.status === 503);
  }
}

export function isAppError(error: unknown): error is AppError {
  return error instanceof AppError;
}

/** The AppError inside, or an `internal_error` that keeps the original as its cause. */
export function toAppError(error: unknown): AppError {
  if (isAppError(error)) return error;
  return new AppError({ code: 'internal_error', status: 500, message: 'Internal error', cause: error });
}
