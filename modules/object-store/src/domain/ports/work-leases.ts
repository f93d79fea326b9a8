/** Leases for work that one process at a time does, among several that share a store. */
export interface WorkLeaseCommands {
  /** True if the holder has the lease until `untilMs`: it was free, expired, or already the holder's. */
  takeLease(input: { name: string; holder: string; nowMs: number; untilMs: number }): Promise<boolean>;
  /** Does nothing if the lease is held by another process. */
  releaseLease(input: { name: string; holder: string }): Promise<void>;
}

/** A lease that has not ended. */
export interface HeldLease {
  readonly name: string;
  readonly holder: string;
  readonly untilMs: number;
}

/** Reads of leases, for operators. */
export interface WorkLeaseQueries {
  /** Leases that have not ended, by name. */
  workLeases(input: { nowMs: number }): Promise<readonly HeldLease[]>;
}
