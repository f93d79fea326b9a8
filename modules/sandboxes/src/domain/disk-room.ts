import type { DiskSpace } from '@svc/runtime';
import { sandboxErrors } from '../errors.ts';

/** Throws HOST_DISK_FULL if `sizeBytes` more would use up the host's disk reserve. */
export async function assertDiskRoom(disk: DiskSpace, sizeBytes: number): Promise<void> {
  if (!(await disk.take(sizeBytes))) throw sandboxErrors.HOST_DISK_FULL({ headers: { 'retry-after': '60' } });
}
