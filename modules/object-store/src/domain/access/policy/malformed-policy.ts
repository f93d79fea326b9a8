import { storeErrors } from '../../../errors.ts';

export function malformedPolicy(reason: string, cause?: unknown): Error {
  return storeErrors.MalformedPolicy({ details: { reason }, ...(cause === undefined ? {} : { cause }) });
}
