import type { NewSandboxEvent, SandboxEvent } from './sandbox-event.ts';

/** Selects all events of a workspace, or those of one sandbox. */
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
  /** Older events are pruned. ISO 8601. */
  readonly before: string;
  readonly perWorkspace: number;
}

/** The stored events. `SandboxRepository` writes events of record changes in the transaction of the change. */
export interface EventLog {
  /** Appends events that belong to no record change, in one transaction. */
  append(events: readonly LooseEvent[]): Promise<void>;
  /** Oldest first. */
  after(scope: EventScope, sequence: number, limit: number): Promise<readonly SandboxEvent[]>;
  /** Newest first, below `sequence` if given. */
  before(scope: EventScope, sequence: number | null, limit: number): Promise<readonly SandboxEvent[]>;
  /** The last sequence number the workspace assigned; 0 if none. */
  newest(workspaceUuid: string): Promise<number>;
  /** The lowest sequence number still stored for the workspace; null if none. */
  oldest(workspaceUuid: string): Promise<number | null>;
  prune(retention: EventRetention): Promise<void>;
}
