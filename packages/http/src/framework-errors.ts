import { type AppError, isAppError, toAppError } from '@svc/errors';
import type { FastifyError } from 'fastify';
import { httpErrors } from './errors.ts';
import { describeIssues } from './validation-issues.ts';

/** Details that framework errors lack. */
export interface FailedRequest {
  bodyLimitBytes?: number | undefined;
  contentType?: string | undefined;
}

/**
 * Maps Fastify errors (validation, body limits, parsers) to the catalogue. Returns `AppError`s unchanged; anything else
 * is an internal error.
 */
export function fromFrameworkError(error: unknown, request: FailedRequest = {}): AppError {
  if (isAppError(error)) return error;
  const known = error as Partial<FastifyError> | null; // thrown values are untyped; each field is checked below
  if (known?.validation !== undefined) return validationError(known);
  switch (known?.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
    case 'FST_REQ_FILE_TOO_LARGE':
      return tooLarge(request, error);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE': {
      const contentType = (request.contentType ?? '').slice(0, 100);
      const reason = contentType === '' ? 'is missing' : `${contentType} is not supported`;
      const details = { field: 'content-type', reason, content_type: contentType === '' ? '(none)' : contentType };
      return httpErrors.UNSUPPORTED_MEDIA_TYPE({ details, cause: error });
    }
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return invalidBody('the body is empty', error);
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return invalidBody('the body is not valid JSON', error);
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalidBody('the body is not as long as its content-length', error);
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return httpErrors.URI_TOO_LONG({ cause: error });
  }
  if (error instanceof SyntaxError && known?.statusCode === 400)
    return invalidBody('the body is not valid JSON', error);
  // Other client errors of the framework, such as invalid percent-encoding in a path.
  if (known?.code?.startsWith('FST_') === true && isClientStatus(known.statusCode)) {
    return httpErrors.INVALID_REQUEST({
      details: { field: 'request', reason: known.message ?? 'refused' },
      cause: error,
    });
  }
  return toAppError(error);
}

function tooLarge({ bodyLimitBytes }: FailedRequest, cause: unknown): AppError {
  const details = { field: 'body', reason: 'is too large', limit_bytes: bodyLimitBytes ?? 'the allowed number of' };
  return httpErrors.PAYLOAD_TOO_LARGE({ details, cause });
}

function invalidBody(reason: string, cause: unknown): AppError {
  return httpErrors.INVALID_REQUEST({ details: { field: 'body', reason }, cause });
}

function isClientStatus(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500;
}

/** A body can have a thousand errors; report no more than this. */
const MAX_ISSUES = 20;

function validationError(error: Partial<FastifyError>): AppError {
  const part = error.validationContext ?? 'request';
  const issues = describeIssues(part, error.validation ?? []).slice(0, MAX_ISSUES);
  const first = issues[0] ?? { field: part, issue: 'is invalid' };
  return httpErrors.INVALID_REQUEST({
    details: { reason: `${first.field} ${first.issue}`, field: first.field, issues },
    cause: error,
  });
}
