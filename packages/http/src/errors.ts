import { defineErrors } from '@svc/errors';

/** Errors that any route can return, regardless of its module. */
export const httpErrors = defineErrors({
  INVALID_REQUEST: [400, 'Invalid request: {reason}'],
  HOP_REFUSED: [403, 'The forwarded request is refused: {reason}'],
  HOP_EXPIRED: [503, 'The request took too long between two replicas; try again'],
  NOT_FOUND: [404, 'Not found'],
  METHOD_NOT_ALLOWED: [405, 'Method not allowed'],
  REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
  PAYLOAD_TOO_LARGE: [413, 'The request body is larger than {limit_bytes} bytes'],
  URI_TOO_LONG: [414, 'The request path is too long'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'Unsupported content type {content_type}'],
  INVALID_RANGE: [416, 'The range starts after the end of the content'],
  TOO_MANY_REQUESTS: [429, 'Rate limit exceeded'],
  TOO_MANY_DOWNLOADS: [
    429,
    'Too many image downloads: this {holder} has {held} of {limit}; try again when one has ended',
  ],
  HEADERS_TOO_LARGE: [431, 'The request headers are too large'],
  SHUTTING_DOWN: [503, 'The platform is shutting down'],
});
