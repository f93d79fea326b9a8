import type { BucketRecord } from '../ports/records.ts';
import type { Traffic } from '../ports/usage-history.ts';

export interface TrafficCountersOptions {
  /** Buckets that are counted between two looks. */
  maxBuckets?: number;
}

const DEFAULT_MAX_BUCKETS = 65_536;

/** Sums of what came and went, in memory until somebody takes them: a request costs a few additions. */
export class TrafficCounters {
  readonly #maxBuckets: number;
  #sums = new Map<number, Traffic>();
  #uncounted = 0;

  constructor({ maxBuckets = DEFAULT_MAX_BUCKETS }: TrafficCountersOptions = {}) {
    this.#maxBuckets = maxBuckets;
  }

  add(bucket: Pick<BucketRecord, 'id' | 'workspaceUuid'>, bytesIn: number, bytesOut: number): void {
    this.#sum({ bucketId: bucket.id, workspaceUuid: bucket.workspaceUuid, requestCount: 1, bytesIn, bytesOut });
  }

  /** Everything since the last time. */
  take(): Traffic[] {
    const taken = [...this.#sums.values()];
    this.#sums = new Map();
    return taken;
  }

  /** What was taken and could not be written down. */
  putBack(traffic: readonly Traffic[]): void {
    for (const each of traffic) this.#sum(each);
  }

  /** Requests that found no room, since the last time this was asked. */
  takeUncounted(): number {
    const count = this.#uncounted;
    this.#uncounted = 0;
    return count;
  }

  #sum(traffic: Traffic): void {
    const known = this.#sums.get(traffic.bucketId);
    if (known !== undefined) {
      known.requestCount += traffic.requestCount;
      known.bytesIn += traffic.bytesIn;
      known.bytesOut += traffic.bytesOut;
    } else if (this.#sums.size < this.#maxBuckets) {
      this.#sums.set(traffic.bucketId, { ...traffic });
    } else {
      this.#uncounted += traffic.requestCount;
    }
  }
}
