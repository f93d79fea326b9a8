/** A process that serves the installation, as its row describes it. */
export interface Replica {
  /** Stable across restarts of one data folder. */
  readonly id: string;
  /** Differs with each start. */
  readonly bootId: string;
  /** Where other replicas reach it; null if they cannot. */
  readonly url: string | null;
  /** Hostname of its machine; null if its version does not state it. */
  readonly host: string | null;
  readonly version: string;
  /** ISO 8601, UTC, by the database's clock. */
  readonly startedAt: string;
  /** Its last renewal, or its end. ISO 8601, UTC, by the database's clock. */
  readonly seenAt: string;
  /** Whether its lease has not ended. */
  readonly isLive: boolean;
  /** Time until its lease ends, by the database's clock; 0 if it has ended. */
  readonly leaseLeftMs: number;
  /** Time since `seenAt`, by the database's clock. */
  readonly silentMs: number;
}

/** What a process states about itself when it claims its id. */
export interface ReplicaClaim {
  readonly id: string;
  readonly bootId: string;
  /**
   * Identifies the locked data folder on this boot of this machine. The owner of an earlier lease with the same place
   * has ended, because two processes cannot hold one lock. Null if the machine cannot tell.
   */
  readonly place: string | null;
  readonly url: string | null;
  /** Hostname of this machine. */
  readonly host: string;
  readonly version: string;
  /** The newest migration that its version knows. */
  readonly newestMigration: string;
}

/** Stores replicas. All times are the database's. */
export interface ReplicaStore {
  /**
   * Takes the id if it is free, its lease has ended, or its owner had this place. Returns null, or the live owner.
   */
  claim(claim: ReplicaClaim): Promise<Replica | null>;
  /**
   * Extends the lease and returns the database's time (ISO 8601, UTC). Null if the row is gone or belongs to another
   * process.
   */
  renew(id: string, bootId: string): Promise<string | null>;
  /** Publishes where other replicas reach this process. */
  advertise(id: string, bootId: string, url: string): Promise<void>;
  /** Ends the lease at once and keeps the row. */
  release(id: string, bootId: string): Promise<void>;
  find(id: string): Promise<Replica | null>;
  /** Every known replica, live or not, by id. */
  list(): Promise<readonly Replica[]>;
  /** Deletes replicas that have been silent for longer. */
  prune(silentMs: number): Promise<void>;
}
