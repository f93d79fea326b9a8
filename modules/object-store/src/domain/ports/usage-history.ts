import type { BucketUsage } from './records.ts';

/** Length of the periods in which usage is recorded. */
export type UsageResolution = 'hour' | 'day';

/** Start of the current hour and day, in UTC. */
export interface UsagePeriods {
  hourMs: number;
  dayMs: number;
}

/** Traffic since the last recording. */
export interface Traffic {
  bucketId: number;
  workspaceUuid: string;
  requestCount: number;
  /** Request bodies, as sent. */
  bytesIn: number;
  /** Response bodies. */
  bytesOut: number;
}

/** Storage at the last recording in the period, and the period's traffic. */
export interface UsagePoint extends BucketUsage {
  periodStartMs: number;
  requestCount: number;
  bytesIn: number;
  bytesOut: number;
}

/** Commands that record usage over time. */
export interface UsageHistoryCommands {
  /** Records the current usage of the next active buckets by id. Returns the last id, or null when done. */
  noteBucketUsage(input: UsagePeriods & { afterBucketId: number; limit: number }): Promise<number | null>;
  /** Records the totals of the next workspaces by uuid. Returns the last uuid, or null when done. */
  noteWorkspaceUsage(input: UsagePeriods & { afterWorkspace: string; limit: number }): Promise<string | null>;
  /** Adds to the periods of each bucket and its workspace. Traffic of deleted buckets counts for the workspace. */
  addTraffic(input: UsagePeriods & { traffic: readonly Traffic[] }): Promise<void>;
  /** Returns the number of rows removed. */
  forgetUsage(input: { resolution: UsageResolution; beforeMs: number; limit: number }): Promise<number>;
}

/** Queries of usage over time. */
export interface UsageHistoryQueries {
  /** By time. Periods without records are omitted. The whole workspace if `bucketId` is null. */
  usageHistory(input: {
    workspaceUuid: string;
    bucketId: number | null;
    resolution: UsageResolution;
    fromMs: number;
    toMs: number;
    limit: number;
  }): Promise<readonly UsagePoint[]>;
}
