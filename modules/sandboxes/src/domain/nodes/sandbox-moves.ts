import type { CauseCode } from '../../errors.ts';
import type { Breach, Limits } from '@svc/quotas';
import type { Sandbox, SandboxFault } from '../sandbox.ts';

/** Cause code of sandboxes whose node does not respond. */
export const LOST = 'NODE_LOST';
/** Cause codes of sandboxes in clusters whose pods may be gone. One that ran out of memory would do so again. */
export const POD_LOST: readonly CauseCode[] = [LOST, 'INIT_CRASHED', 'AGENT_TIMEOUT', 'ROOTFS_FAILED'];
/** A node reports itself every 15 s. */
export const UNREPORTED_MS = 20_000;

/** A sandbox that another node may continue, and the newest snapshot of it that every node can use. */
export interface MovableSandbox {
  readonly sandbox: Sandbox;
  readonly snapshotId: string;
  readonly snapshotCreatedAt: string;
}

/** Attempts to restore a sandbox in its cluster. */
export interface RestoreAttempts {
  /** Restores begun since the sandbox last ran for long. */
  readonly restores: number;
  /** Attempts after the last of them that began nothing. */
  readonly refusals: number;
}

export interface LostSandbox extends MovableSandbox, RestoreAttempts {}

/** Moves sandboxes from nodes that do not respond, or are drained. All times are the database's. */
export interface SandboxMoves {
  /**
   * Reports a starting or running sandbox as lost, unless its node has reported itself within this time: the caller may
   * have been paused since it looked. Returns the new record, or null.
   */
  markLost(id: string, node: string, fault: SandboxFault, silentMs: number): Promise<Sandbox | null>;
  /**
   * Lost sandboxes of these nodes to restore with this driver and format: one of each workspace at random, then a second one
   * of each, and so on, so that neither many that fail nor many of one workspace keep the others waiting.
   */
  restorable(
    nodes: readonly string[],
    driver: string,
    format: string,
    limit: number,
  ): Promise<readonly MovableSandbox[]>;
  /** Sandboxes of other nodes that a drain has left to this one. */
  leftByDrains(node: string, driver: string, format: string, limit: number): Promise<readonly MovableSandbox[]>;
  /**
   * Gives a sandbox to another node, which creates it from the snapshot, and records that the first one has to remove it.
   * Only one of several calls succeeds. None does once the first node has returned, or has started the sandbox itself.
   * The sandbox is null if it is not to be moved any more.
   */
  move(
    lost: MovableSandbox,
    to: string,
    limits: Limits,
    silentMs: number,
  ): Promise<{ sandbox: Sandbox | null } | { breach: Breach }>;
  /** Sandboxes of this node to restore in these clusters, whose pods may be gone, if an attempt is due. In the same order. */
  lostInClusters(node: string, clusterIds: readonly string[], limit: number): Promise<readonly LostSandbox[]>;
  /** Like `move`, on the same node, for a sandbox that has lost its files. Notes the attempt. */
  recreate(
    lost: MovableSandbox,
    attempts: RestoreAttempts,
    nextAttemptAt: Date,
    limits: Limits,
  ): Promise<{ sandbox: Sandbox | null } | { breach: Breach }>;
  /** Notes an attempt that began nothing. */
  noteRefusal(id: string, attempts: RestoreAttempts, nextAttemptAt: Date): Promise<void>;
  /** Restores the sandbox no more, unless it is started and fails again. Null if it is not lost any more. */
  abandon(lost: MovableSandbox, fault: SandboxFault): Promise<Sandbox | null>;
  /** Ids of sandboxes that were moved from this node and that it has not removed yet. */
  leftBehind(node: string): Promise<readonly string[]>;
  /** The node has removed the sandbox. */
  forget(id: string, node: string): Promise<void>;
}
