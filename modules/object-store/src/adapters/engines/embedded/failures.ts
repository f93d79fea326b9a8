import { isDiskFault, isDiskFull } from '../../../domain/disk-failures.ts';
import { storeErrors } from '../../../errors.ts';

export function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ENOENT'; // a system error's code
}

/** Maps a failed system call to a store error; the original error stays in the cause. */
export function toStoreError(error: unknown): unknown {
  if (isDiskFull(error)) return storeErrors.InsufficientStorage({ cause: error });
  return isDiskFault(error) ? storeErrors.StorageFault({ cause: error }) : error;
}
