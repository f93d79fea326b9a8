import type { Lock } from '../program.ts';

/** Guards a bucket against its deletion, and against changes that take its exclusive lock. */
export function bucketLock(bucketId: number): Lock {
  return { name: `bucket/${bucketId}`, shared: true };
}

/** Guards all versions of a key. */
export function keyLock({ bucketId, key }: { bucketId: number; key: string }): Lock {
  return { name: `object/${bucketId}/${key}`, shared: false };
}

/** Guards an upload and its parts. */
export function uploadLock(uploadId: string): Lock {
  return { name: `upload/${uploadId}`, shared: false };
}
