import type { DiskSpace } from '@svc/runtime';
import { sandboxErrors } from '../errors.ts';

/** Throws HOST_DISK_FULL when so many bytes more would take the reserve of the host's disk. */
export async function assertDiskRoom(disk: DiskSpace, sizeBytes: number): Promise<void> {
  if (!(await disk.take(sizeBytes))) throw sandboxErrors.HOST_DISK_FULL({ headers: { 'retry-after': '60' } });
}
