import type { BucketRecord } from '../ports/records.ts';
import type { Traffic } from '../ports/usage-history.ts';

export interface TrafficCountersOptions {
  /** Maximum number of buckets counted between two recordings. */
  maxBuckets?: number;
}

const DEFAULT_MAX_BUCKETS = 65_536;

/** Sums traffic in memory until it is recorded. A request costs a few additions. */
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

  /** Returns the traffic since the last call, and resets the sums. */
  take(): Traffic[] {
    const taken = [...this.#sums.values()];
    this.#sums = new Map();
    return taken;
  }

  /** Adds back traffic that could not be recorded. */
  putBack(traffic: readonly Traffic[]): void {
    for (const each of traffic) this.#sum(each);
  }

  /** Requests over the bucket limit since the last call. */
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
