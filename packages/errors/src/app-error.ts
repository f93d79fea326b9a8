/** Optional parts of an AppError. */
export interface AppErrorOptions {
  code: string;
  status: number;
  message: string;
  /** Extra fields for the client: `field`, `reason`, limits. Never secrets or internals. */
  details?: Record<string, unknown>;
  /** Response headers, such as `retry-after` (seconds). */
  headers?: Record<string, string>;
  cause?: unknown;
  /** True if the same request may succeed later without changes. */
  retryable?: boolean;
}

/**
 * The product's error type. A renderer per protocol turns it into a response; any other error is a bug and becomes
 * `internal_error`.
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

/** Whether the value is an AppError. */
export function isAppError(error: unknown): error is AppError {
  return error instanceof AppError;
}

/** Returns an AppError unchanged; wraps anything else as `internal_error` with the original as its cause. */
export function toAppError(error: unknown): AppError {
  if (isAppError(error)) return error;
  return new AppError({ code: 'internal_error', status: 500, message: 'Internal error', cause: error });
}
