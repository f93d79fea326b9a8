export { defaultReserveBytes, DiskReserve, unlimitedDisk, type DiskFigures, type DiskSpace } from './disk-reserve.ts';
export { FairQueue, type FairQueueOptions } from './fair-queue.ts';
export { FairSlots, type FairSlotsOptions, type ReleaseSlot } from './fair-slots.ts';
export { FairTurns, type FairTurnsOptions } from './fair-turns.ts';
export { KeyedQueue, type KeyedQueueOptions } from './keyed-queue.ts';
export { RecentMap } from './recent-map.ts';
export { replaceFile, syncFolder, type ReplaceFileOptions } from './replace-file.ts';
export { TokenBucket, type TokenRate } from './token-bucket.ts';
export { TokenBuckets, type TokenBucketsOptions } from './token-buckets.ts';
