import type { DiskSpace } from '@svc/runtime';

/** A disk with a fixed number of free bytes above its reserve. */
export class LimitedDisk implements DiskSpace {
  freeBytes: number;

  constructor(freeBytes: number) {
    this.freeBytes = freeBytes;
  }

  async hasRoom(sizeBytes: number): Promise<boolean> {
    return sizeBytes <= this.freeBytes;
  }

  async take(sizeBytes: number): Promise<boolean> {
    if (sizeBytes > this.freeBytes) return false;
    this.freeBytes -= sizeBytes;
    return true;
  }
}
