import { defineErrors } from '@svc/errors';

/** Refusals of access. */
export const accessErrors = defineErrors({
  UNAUTHORIZED: [401, 'Missing or invalid credentials'],
  FORBIDDEN: [403, 'Insufficient permissions'],
  RIGHT_UNCONFIRMED: [503, 'The right to this connection could not be confirmed in time'],
});
