import { isDiskFault, isDiskFull } from '../../../domain/disk-failures.ts';
import { storeErrors } from '../../../errors.ts';

export function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ENOENT'; // a system error's code
}

/** What a failed call means for whoever waits for an answer; the system's own words stay in the cause. */
export function toStoreError(error: unknown): unknown {
  if (isDiskFull(error)) return storeErrors.InsufficientStorage({ cause: error });
  return isDiskFault(error) ? storeErrors.StorageFault({ cause: error }) : error;
}
