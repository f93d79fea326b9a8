import type { NewSandboxEvent, SandboxEvent } from './sandbox-event.ts';

/** Whose events: all of a workspace, or those of one of its sandboxes. */
export interface EventScope {
  readonly workspaceUuid: string;
  readonly sandboxId: string | null;
}

export interface LooseEvent extends NewSandboxEvent {
  readonly workspaceUuid: string;
  readonly sandboxId: string;
  readonly at: string;
}

export interface EventRetention {
  /** Older ones go; ISO 8601. */
  readonly before: string;
  readonly perWorkspace: number;
}

/** The kept events. Those of a change are written by `SandboxRepository`, in the change's own transaction. */
export interface EventLog {
  /** Events that come with no change of a record, in one transaction. */
  append(events: readonly LooseEvent[]): Promise<void>;
  /** Oldest first. */
  after(scope: EventScope, sequence: number, limit: number): Promise<readonly SandboxEvent[]>;
  /** Newest first, below the number when one is given. */
  before(scope: EventScope, sequence: number | null, limit: number): Promise<readonly SandboxEvent[]>;
  /** The last number that the workspace gave out; 0 when none. */
  newest(workspaceUuid: string): Promise<number>;
  /** The first number of the workspace that is still kept; null when none is. */
  oldest(workspaceUuid: string): Promise<number | null>;
  prune(retention: EventRetention): Promise<void>;
}
