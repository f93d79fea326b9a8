import type { AppError } from '@svc/errors';
import { storeErrors } from '../../errors.ts';

/** Creates the error for an invalid claim. Headers and queries share the reasons, but not the code. */
export type Refuse = (reason: string, details?: Readonly<Record<string, unknown>>) => AppError;

export const refuseHeader: Refuse = (reason, details) =>
  storeErrors.AuthorizationHeaderMalformed({ details: { ...details, reason } });

/** For every parameter but the credential. */
export const refuseQuery: Refuse = (reason, details) =>
  storeErrors.AuthorizationQueryParametersError({ details: { ...details, reason } });

export const refuseQueryCredential: Refuse = (reason, details) =>
  refuseQuery(`Error parsing the X-Amz-Credential parameter; ${reason}`, details);

export function refuseAuthorization(reason: string): AppError {
  return storeErrors.InvalidArgument({ details: { reason, argumentName: 'Authorization' } });
}

/** Signature Version 2 and other mechanisms that S3 knows but this store does not support. */
export function unsupportedMechanism(): AppError {
  const reason = 'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.';
  return storeErrors.InvalidRequest({ details: { reason } });
}

export function accessDenied(reason: string, details?: Readonly<Record<string, unknown>>): AppError {
  return storeErrors.AccessDenied({ details: { ...details, reason } });
}
