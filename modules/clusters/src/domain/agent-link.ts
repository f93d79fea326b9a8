import type { PlatformMessageType, PlatformPayloads } from '@svc/protocol';

/** The domain's view of one agent's connection. */
export interface AgentLink {
  readonly clusterId: string;
  /** Connection number within the cluster; a higher one is newer. */
  readonly epoch: number;
  /** Null for an agent that sent no hello: it knows only the contract's six types and answers no commands. */
  readonly instanceId: string | null;
  /** Identifies the agent's events and journal: the same id after a restart means that they are still there. */
  readonly outboxId: string | null;
  /** The process that sent the hello has never connected before. */
  readonly isFirstConnection: boolean;
  readonly closed: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly connectedAtMs: number;
  /** Resolves when the kernel has taken the frame; rejects if the connection ends first. */
  send<Type extends PlatformMessageType>(type: Type, payload: PlatformPayloads[Type], id?: string): Promise<void>;
  /** Closes the connection because the agent has a newer one. */
  supersede(): void;
}
