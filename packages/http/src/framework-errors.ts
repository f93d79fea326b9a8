import { type AppError, isAppError, toAppError } from '@svc/errors';
import type { FastifyError } from 'fastify';
import { httpErrors } from './errors.ts';

/** Maps what Fastify itself throws (validation, body limits, parsers) to the catalogue; the rest is ours or a fault. */
export function fromFrameworkError(error: unknown): AppError {
  if (isAppError(error)) return error;
  const known = error as Partial<FastifyError> | null; // thrown values have no type; each field is checked below
  if (known?.validation !== undefined) return validationError(known);
  switch (known?.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return httpErrors.PAYLOAD_TOO_LARGE({ details: { field: 'body', reason: known.message }, cause: error });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return httpErrors.UNSUPPORTED_MEDIA_TYPE({ details: { field: 'content-type' }, cause: error });
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return httpErrors.INVALID_REQUEST({
        details: { field: 'body', reason: known.message ?? 'malformed' },
        cause: error,
      });
  }
  if (error instanceof SyntaxError && known?.statusCode === 400) {
    return httpErrors.INVALID_REQUEST({
      details: { field: 'body', reason: 'the body is not valid JSON' },
      cause: error,
    });
  }
  return toAppError(error);
}

function validationError(error: Partial<FastifyError>): AppError {
  const part = error.validationContext ?? 'request';
  const issues = (error.validation ?? []).map((issue) => ({
    field: fieldOf(part, issue.instancePath, issue.params),
    issue: issue.message ?? 'is invalid',
  }));
  const first = issues[0] ?? { field: part, issue: 'is invalid' };
  return httpErrors.INVALID_REQUEST({
    details: { reason: `${first.field} ${first.issue}`, field: first.field, issues },
    cause: error,
  });
}

function fieldOf(part: string, instancePath: string, params: Record<string, unknown>): string {
  const path = instancePath.split('/').filter((segment) => segment !== '');
  const extra = params['missingProperty'] ?? params['additionalProperty'];
  if (typeof extra === 'string') path.push(extra);
  return path.length === 0 ? part : path.join('.');
}
