import type { GrantedAccess } from '@svc/access';
import type { Breach, Limits } from '@svc/quotas';
import type { Admission, QuotaRefusal } from './admission.ts';
import type { DrivenSandbox } from './clusters/cluster-drivers.ts';
import type { Sandbox, SandboxChange, SandboxStatus } from './sandbox.ts';

/**
 * Selects sandboxes of a workspace: exact status and name, and all of the labels. `cursor` is the `nextCursor` of the
 * previous page in the same order; null starts with the first sandbox.
 */
export interface SandboxFilter {
  readonly status?: SandboxStatus | undefined;
  /** All phases by default. */
  readonly phases?: readonly SandboxPhase[] | undefined;
  readonly image?: string | undefined;
  /** Only sandboxes that last started at this instant or later. */
  readonly startedSince?: string | undefined;
  /**
   * Counts what has expired by this instant as done: deleted ones are left out, and paused ones are `suspended`, although
   * the sweep may still have to do it.
   */
  readonly asOf?: string | undefined;
  readonly oldestFirst?: boolean;
  readonly name?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly pageSize: number;
  readonly cursor: string | null;
}

/** `active`: creating or running. `suspended`: paused or stopped, so that its files are kept and it can continue. */
export type SandboxPhase = 'active' | 'suspended';

/** A page of sandboxes, newest first unless requested otherwise. `nextCursor` is null on the last page. */
export interface SandboxPage {
  readonly sandboxes: readonly Sandbox[];
  readonly nextCursor: string | null;
}

/**
 * The idempotency key of a create request. Keys are scoped to the workspace and the caller, and expire after 24 hours.
 */
export interface RepeatedRequest {
  readonly key: string;
  /** Hash of the whole request: reusing a key for a different request is a client error. */
  readonly requestHash: string;
}

/**
 * Outcome of a restart: the new record, null if the sandbox was not in one of the expected states, or the quota that
 * the restart would exceed.
 */
export type Restart = { readonly sandbox: Sandbox | null } | { readonly breach: Breach };

/**
 * Outcome of `insert`. Only `inserted` stores the record. `repeated` names the sandbox of the first request with this
 * idempotency key; `sameRequest` is false if that request differed.
 */
export type InsertOutcome =
  | { readonly outcome: 'inserted' }
  | { readonly outcome: 'name_taken' }
  | { readonly outcome: 'refused'; readonly refusal: QuotaRefusal }
  | { readonly outcome: 'repeated'; readonly sandboxId: string; readonly sameRequest: boolean };

/** Stores sandbox records. Deleted sandboxes are visible only to `removed` and `purge`. */
export interface SandboxRepository {
  /** Checks and stores idempotency key, caller limit, quotas, name and record in one transaction. */
  insert(sandbox: Sandbox, admission: Admission, repeated: RepeatedRequest | null): Promise<InsertOutcome>;
  find(id: string): Promise<Sandbox | null>;
  list(workspaceUuid: string, filter: SandboxFilter): Promise<SandboxPage>;
  /**
   * Changes the record if it is (still) in one of the states, and on the node if one is given: a node that was cut off
   * must not change a sandbox that was restored elsewhere. Returns the new record, or null. A status change also clears
   * the pause.
   */
  change(id: string, from: readonly SandboxStatus[], change: SandboxChange, node?: string): Promise<Sandbox | null>;
  /**
   * Like `change` to `creating`, from a state that uses no CPU and memory; checks the quotas in the same transaction.
   * The sandbox is null if it was not in one of the states.
   */
  restart(id: string, from: readonly SandboxStatus[], change: SandboxChange, limits: Limits): Promise<Restart>;
  touch(id: string, at: string): Promise<void>;
  /** Marks it deleted, which frees its name and quota at once. Returns false if it was already deleted. */
  remove(id: string, at: string): Promise<boolean>;
  /** Those deleted on this node and not yet purged. */
  removed(node: string): Promise<readonly DrivenSandbox[]>;
  purge(id: string): Promise<void>;
  /** Sandboxes of this node in any of the states. */
  ofNode(node: string, states: readonly SandboxStatus[]): Promise<readonly Sandbox[]>;
  /** Sandboxes of this node in any of the states that run in clusters other than these. */
  ofOtherClusters(
    node: string,
    states: readonly SandboxStatus[],
    clusterIds: readonly string[],
  ): Promise<readonly Sandbox[]>;
  /** Running sandboxes of this node with rules for secrets. */
  ofNodeWithRules(node: string): Promise<readonly Pick<Sandbox, 'id'>[]>;
  /** The rules of those of the sandboxes that are starting or running. */
  rulesOf(ids: readonly string[]): Promise<ReadonlyMap<string, Sandbox['egressRules']>>;
  /** Number of sandboxes of a workspace; with `state`, only those running or paused. */
  ofWorkspace(workspaceUuid: string, state?: 'running' | 'paused'): Promise<number>;
  purgeRepeated(before: string): Promise<void>;
  /** Sandboxes that mount any of the volumes, deleted ones included until they are purged. */
  mounters(volumeIds: readonly string[]): Promise<readonly VolumeMounter[]>;
  /** Whether any sandbox that is not deleted mounts the bucket. */
  mountsBucket(workspaceUuid: string, bucketId: number): Promise<boolean>;
}

/** A sandbox that mounts a volume. */
export interface VolumeMounter {
  readonly volumeId: string;
  readonly sandboxId: string;
  readonly sandboxName: string;
  readonly readOnly: boolean;
  /** It exists and is starting or running, paused or not. */
  readonly isActive: boolean;
  readonly isDeleted: boolean;
}

/** The nodes of the installation. Each replica is one, with the sandboxes that it created. */
export interface SandboxNodes {
  isLive(node: string): Promise<boolean>;
  /** Nodes that a process serves now. */
  live(): Promise<readonly string[]>;
  /** Nodes that no process has served for this time, by the database's clock. */
  silent(silentMs: number): Promise<readonly string[]>;
}

/** Stores single-use tickets for terminal URLs by the SHA-256 of the ticket, in hex. Times are ISO 8601 in UTC. */
export interface TicketRepository {
  insert(ticket: { hash: string; sandboxId: string; granted: GrantedAccess; expiresAt: string }): Promise<void>;
  /** Returns the ticket and invalidates it. A ticket works once. */
  take(hash: string, now: string): Promise<{ sandboxId: string; granted: GrantedAccess } | null>;
  purge(before: string): Promise<void>;
}
