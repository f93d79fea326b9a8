import { defineErrors } from '@svc/errors';

/** Frame errors. `details` contains `field` (a path) and `reason`, as in every error body of the contract. */
export const protocolErrors = defineErrors({
  FRAME_TOO_LARGE: [413, 'The frame is larger than {limit_bytes} bytes'],
  MALFORMED_ENVELOPE: [400, 'The frame is not an envelope: {reason}'],
  INVALID_PAYLOAD: [400, 'The payload of {type} is invalid: {field} {reason}'],
});

/** Codes of `error` objects in messages. Readers must accept others as well. */
export const MESSAGE_ERROR_CODES = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
  'CONFLICT',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
  'TIMEOUT',
  'CANCELLED',
  'UNSUPPORTED',
  'MANIFEST_TOO_LARGE',
  'KUBERNETES_ERROR',
  'APPLY_FAILED',
  'NOT_READY',
  'LOST',
  'UNKNOWN_MESSAGE_TYPE',
] as const;

/** A code that this implementation puts into `error` objects of messages. */
export type MessageErrorCode = (typeof MESSAGE_ERROR_CODES)[number];
