import type { PlatformMessageType, PlatformPayloads } from '@svc/protocol';

/** The connection of one agent, as the domain sees it. */
export interface AgentLink {
  readonly clusterId: string;
  /** Number of the connection of this cluster; a higher one is newer. */
  readonly epoch: number;
  /** Null for an agent that said no hello: it knows the contract's six types and answers no command. */
  readonly instanceId: string | null;
  /** Whose events and journal it goes on with: the same id after a restart means that they are still there. */
  readonly outboxId: string | null;
  /** The process that says hello has had no connection before this one. */
  readonly isFirstConnection: boolean;
  readonly closed: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly connectedAtMs: number;
  /** Resolves when the frame was given to the kernel; rejects when the connection ends before that. */
  send<Type extends PlatformMessageType>(type: Type, payload: PlatformPayloads[Type], id?: string): Promise<void>;
}
