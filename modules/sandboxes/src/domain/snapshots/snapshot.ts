import type { EgressRule } from '../egress-rules/egress-rule.ts';
import type { SandboxTemplate } from '../templates/sandbox-template.ts';
import type { Admission, QuotaRefusal } from '../admission.ts';

/**
 * `making`: being copied. `ready`: available to its workspace. `fork`: made for a fork and not listed. `move`: made to
 * move the sandbox to another node and not listed. `removed`: hidden; its files are deleted once no sandbox waits for
 * them.
 */
export type SnapshotState = 'making' | 'ready' | 'fork' | 'move' | 'removed';

/** States of complete snapshots. */
export type FinishedState = Exclude<SnapshotState, 'making' | 'removed'>;

export interface Snapshot {
  readonly id: string;
  readonly workspaceUuid: string;
  readonly ownerId: string;
  readonly node: string;
  readonly driver: string;
  readonly name: string;
  /** The source sandbox; it may be deleted. */
  readonly sandboxId: string;
  readonly image: string;
  readonly diskMb: number;
  /** Size on disk. */
  readonly sizeBytes: number;
  readonly state: SnapshotState;
  readonly createdAt: string;
  /** The rules of the source, for sandboxes created from it. */
  readonly egressRules: readonly EgressRule[];
  /** Since when every node with the same driver can use it; null for only its own. */
  readonly archivedAt: string | null;
  /** Why it is not archived yet; null if no attempt failed. */
  readonly archiveError: string | null;
  /** The template of the source, whose command starts in sandboxes created from it. */
  readonly template: SandboxTemplate | null;
}

export interface SnapshotPage {
  readonly snapshots: readonly Snapshot[];
  readonly nextCursor: string | null;
}

export interface SnapshotFilter {
  readonly sandboxId: string | null;
  /** Exact; all names by default. */
  readonly name?: string | undefined;
  readonly pageSize: number;
  readonly cursor: string | null;
}

export interface SnapshotRepository {
  /** Checks the limits and inserts in one transaction. Returns the refusal, or null. `isListed` is false for a fork. */
  insert(snapshot: Snapshot, admission: Admission, isListed: boolean): Promise<QuotaRefusal | null>;
  /**
   * Moves a snapshot from `making` to the state. For `ready`, records an event in the same transaction. Null if it is
   * not `making`.
   */
  finish(id: string, state: FinishedState, sizeBytes: number): Promise<Snapshot | null>;
  /** Finds a `ready` snapshot. */
  find(id: string): Promise<Snapshot | null>;
  /** Lists `ready` snapshots, newest first. */
  list(workspaceUuid: string, filter: SnapshotFilter): Promise<SnapshotPage>;
  /** Returns false if it was already removed. */
  remove(id: string): Promise<boolean>;
  /** Deletes the record, once no files are left. */
  purge(id: string): Promise<void>;
  ofNode(node: string, states: readonly SnapshotState[]): Promise<readonly Snapshot[]>;
  /** The snapshots for moving this sandbox from the node. */
  forMove(sandboxId: string, node: string): Promise<readonly Snapshot[]>;
  /** Ids of sandboxes to be created from it that have never run: they may still need its files. */
  awaitedBy(id: string): Promise<readonly string[]>;
}
