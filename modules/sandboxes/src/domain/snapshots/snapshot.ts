import type { Admission, QuotaRefusal } from '../admission.ts';

/**
 * `making`: its bytes are being written. `ready`: for its workspace to use. `fork`: made for a fork and in no list.
 * `removed`: nobody finds it; its bytes go as soon as no sandbox waits for them.
 */
export type SnapshotState = 'making' | 'ready' | 'fork' | 'removed';

export interface Snapshot {
  readonly id: string;
  readonly workspaceUuid: string;
  readonly ownerId: string;
  readonly node: string;
  readonly driver: string;
  readonly name: string;
  /** The sandbox that it was made of; it may be gone. */
  readonly sandboxId: string;
  readonly image: string;
  readonly diskMb: number;
  /** What it takes on the disk. */
  readonly sizeBytes: number;
  readonly state: SnapshotState;
  readonly createdAt: string;
}

export interface SnapshotPage {
  readonly snapshots: readonly Snapshot[];
  readonly nextCursor: string | null;
}

export interface SnapshotFilter {
  readonly sandboxId: string | null;
  readonly pageSize: number;
  readonly cursor: string | null;
}

export interface SnapshotRepository {
  /** One transaction with the counts; answers what leaves no room, or null. One of a fork is not `isListed`. */
  insert(snapshot: Snapshot, admission: Admission, isListed: boolean): Promise<QuotaRefusal | null>;
  /** From `making` to the state; `ready` is told as an event in the same transaction. Null when it is not `making`. */
  finish(id: string, state: 'ready' | 'fork', sizeBytes: number): Promise<Snapshot | null>;
  /** One that is `ready`. */
  find(id: string): Promise<Snapshot | null>;
  /** Those that are `ready`, newest first. */
  list(workspaceUuid: string, filter: SnapshotFilter): Promise<SnapshotPage>;
  /** False when it was removed already. */
  remove(id: string): Promise<boolean>;
  /** The record goes: nothing of it is left. */
  purge(id: string): Promise<void>;
  ofNode(node: string, states: readonly SnapshotState[]): Promise<readonly Snapshot[]>;
  /** Sandboxes that are to be made from it and never ran yet: they may still need the bytes. */
  awaitedBy(id: string): Promise<readonly string[]>;
}
