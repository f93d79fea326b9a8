export { BackgroundLoop, type BackgroundLoopOptions } from './background-loop.ts';
export { backgroundClock, monotonicClock, pause, systemClock, type Clock } from './clock.ts';
export { defaultReserveBytes, DiskReserve, unlimitedDisk, type DiskFigures, type DiskSpace } from './disk-reserve.ts';
export { FairQueue, type FairQueueOptions } from './fair-queue.ts';
export { FairSlots, type FairSlotsOptions, type ReleaseSlot } from './fair-slots.ts';
export { FairTurns, type FairTurnsOptions } from './fair-turns.ts';
export { KeyedQueue, type KeyedQueueOptions } from './keyed-queue.ts';
export { loadOnce } from './load-once.ts';
export { pageOf, parseCursor, type Page } from './pages.ts';
export { systemRandom, type Random } from './random.ts';
export { RecentMap } from './recent-map.ts';
export { RecentResults, type RecentResultsOptions } from './recent-results.ts';
export { replaceFile, syncFolder, type ReplaceFileOptions } from './replace-file.ts';
export {
  findShareRefusal,
  Shares,
  type Holdings,
  type ShareOutcome,
  type ShareRefusal,
  type SharesOptions,
} from './shares.ts';
export { TokenBucket, type TokenRate } from './token-bucket.ts';
export { TokenBuckets, type TokenBucketsOptions } from './token-buckets.ts';
export { failUnanswered, UnansweredRequest } from './unanswered-request.ts';
export { unlessAborted } from './unless-aborted.ts';
