import type { BucketUsage } from './records.ts';

export type UsageResolution = 'hour' | 'day';

/** The hour and the day of one moment, by their beginnings in UTC. */
export interface UsagePeriods {
  hourMs: number;
  dayMs: number;
}

/** What came and went since it was last written down. */
export interface Traffic {
  bucketId: number;
  workspaceUuid: string;
  requestCount: number;
  /** Of request bodies, as they were sent. */
  bytesIn: number;
  /** Of answers' bodies. */
  bytesOut: number;
}

/** What was stored when the period was last looked at, and what came and went in it. */
export interface UsagePoint extends BucketUsage {
  periodStartMs: number;
  requestCount: number;
  bytesIn: number;
  bytesOut: number;
}

export interface UsageHistoryCommands {
  /** Writes down what some active buckets have now, by id; answers the last of them, null when there are no more. */
  noteBucketUsage(input: UsagePeriods & { afterBucketId: number; limit: number }): Promise<number | null>;
  /** The same for all active buckets of some workspaces together, by uuid. */
  noteWorkspaceUsage(input: UsagePeriods & { afterWorkspace: string; limit: number }): Promise<string | null>;
  /** Adds to the periods of each bucket and of its workspace; that of buckets that are gone counts for the workspace. */
  addTraffic(input: UsagePeriods & { traffic: readonly Traffic[] }): Promise<void>;
  /** Answers how many rows went. */
  forgetUsage(input: { resolution: UsageResolution; beforeMs: number; limit: number }): Promise<number>;
}

export interface UsageHistoryQueries {
  /** By time; periods in which nothing was written down are not there. `bucketId` null: the whole workspace. */
  usageHistory(input: {
    workspaceUuid: string;
    bucketId: number | null;
    resolution: UsageResolution;
    fromMs: number;
    toMs: number;
    limit: number;
  }): Promise<readonly UsagePoint[]>;
}
