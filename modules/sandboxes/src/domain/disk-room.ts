import { isAppError } from '@svc/errors';
import type { DiskSpace } from '@svc/runtime';
import { sandboxErrors } from '../errors.ts';

/** Throws HOST_DISK_FULL if `sizeBytes` more would use up the host's disk reserve. */
export async function assertDiskRoom(disk: DiskSpace, sizeBytes: number): Promise<void> {
  if (!(await disk.take(sizeBytes))) throw diskFull();
}

/** The same ahead of what `takingDiskRoom` counts. */
export async function assertDiskRoomAhead(disk: DiskSpace, sizeBytes: number): Promise<void> {
  if (!(await disk.hasRoom(sizeBytes))) throw diskFull();
}

/** Passes on what will be written to the disk, and throws HOST_DISK_FULL ahead of what would use up its reserve. */
export async function* takingDiskRoom<Chunk extends Uint8Array>(
  disk: DiskSpace,
  content: AsyncIterable<Chunk>,
): AsyncGenerator<Chunk> {
  for await (const chunk of content) {
    await assertDiskRoom(disk, chunk.length);
    yield chunk;
  }
}

export function isDiskFull(error: unknown): error is Error {
  return isAppError(error) && error.code === 'HOST_DISK_FULL';
}

function diskFull(): Error {
  return sandboxErrors.HOST_DISK_FULL({ headers: { 'retry-after': '60' } });
}
