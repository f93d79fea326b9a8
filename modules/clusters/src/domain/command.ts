import type { CommandName, CommandStatus, MessageError } from '@svc/protocol';
import type { Limits } from '@svc/quotas';
import type { Page, PageRequest } from './paging.ts';

/** `dispatched` = written to the wire; `running` = the agent acknowledged it. The last six never change again. */
export type CommandState = 'queued' | 'dispatched' | 'running' | CommandStatus;

export const OPEN_STATES = ['queued', 'dispatched', 'running'] as const;

export function isFinished(state: CommandState): state is CommandStatus {
  return state !== 'queued' && state !== 'dispatched' && state !== 'running';
}

export interface CommandActor {
  id: string;
  name: string;
}

export interface Command {
  id: string;
  clusterId: string;
  kind: CommandName;
  state: CommandState;
  createdBy: CommandActor;
  createdAt: string;
  /** From dispatch to result, the agent's own limit plus a grace. */
  timeoutMs: number;
  sentAt: string | null;
  sentInstanceId: string | null;
  sentOutboxId: string | null;
  sentCount: number;
  acknowledgedAt: string | null;
  cancelRequestedAt: string | null;
  deadlineAt: string;
  finishedAt: string | null;
  result: Record<string, unknown> | null;
  error: MessageError | null;
}

export interface NewCommand {
  id: string;
  clusterId: string;
  kind: CommandName;
  payload: object;
  createdBy: CommandActor;
  createdAt: string;
  timeoutMs: number;
  /** Until when it may wait for its agent. */
  deadlineAt: string;
}

export interface NewDeployment {
  id: string;
  projectId: string;
  namespace: string;
  manifestSha256: string;
  dryRun: boolean;
}

export interface Deployment extends NewDeployment {
  clusterId: string;
  createdAt: string;
  command: Command;
}

export interface IdempotencyKey {
  key: string;
  requestSha256: string;
}

export interface CommandSubmission {
  command: NewCommand;
  deployment: NewDeployment | null;
  /** The same key with the same request answers the first command; with another request it is refused. */
  idempotency: IdempotencyKey | null;
  maxOpenCommands: number;
  /** Of the cluster's workspace and its owner. */
  limits: Limits;
}

/** One entry of a command's story, in the order of `sequence`: state changes, progress, output, the result. */
export interface CommandNote {
  sequence: number;
  type: 'state' | 'progress' | 'output' | 'result';
  data: Record<string, unknown>;
  createdAt: string;
}

export type NoteDraft =
  | { type: 'state'; data: Record<string, unknown>; sizeBytes: 0 }
  | { type: 'progress' | 'output'; data: Record<string, unknown>; agentSequence: number; sizeBytes: number };

export interface CommandOutcome {
  status: CommandStatus;
  result: Record<string, unknown> | null;
  error: MessageError | null;
}

/** The process that a command goes to, and the memory on disk that it shares with those before and after it. */
export interface CommandReceiver {
  instanceId: string | null;
  outboxId: string | null;
}

/** Commands are rows before they are messages: what is not here was never asked. */
export interface CommandStore {
  /**
   * Throws `IDEMPOTENCY_CONFLICT` or `TOO_MANY_COMMANDS`. A deployment supersedes those of the same project and
   * namespace that are still queued; their ids are answered.
   */
  submit(submission: CommandSubmission): Promise<{ commandId: string; replayed: boolean; superseded: string[] }>;
  /** The id of the command that this key made; throws `IDEMPOTENCY_CONFLICT`. */
  replay(clusterId: string, idempotency: IdempotencyKey): Promise<string | undefined>;
  find(clusterId: string, id: string): Promise<Command | undefined>;
  payload(id: string): Promise<Record<string, unknown> | undefined>;
  list(clusterId: string, page: PageRequest): Promise<Page<Command>>;
  /** Unfinished ones, oldest first. */
  open(clusterId: string, states: readonly CommandState[], limit: number): Promise<Command[]>;
  /** Clusters with a queued command. */
  waitingClusters(limit: number): Promise<string[]>;
  /** queued -> dispatched. False when it is not queued any more. */
  claim(id: string, receiver: CommandReceiver, at: string, deadlineAt: string): Promise<boolean>;
  /** The same command again to an instance that may not have it. False when it finished meanwhile. */
  reclaim(id: string, receiver: CommandReceiver, at: string, deadlineAt: string): Promise<boolean>;
  acknowledge(clusterId: string, id: string, running: boolean, at: string): Promise<boolean>;
  /** Appends within the bounds; false when there is no such open command, or the note came before or is too much. */
  note(clusterId: string, id: string, draft: NoteDraft, at: string, limits: NoteLimits): Promise<boolean>;
  /** Stores the one result. False when there is one already. */
  finish(clusterId: string, id: string, outcome: CommandOutcome, at: string): Promise<boolean>;
  /** Marks; a queued one is cancelled at once. Answers the state after it. */
  requestCancel(clusterId: string, id: string, at: string): Promise<CommandState | undefined>;
  overdue(now: string, limit: number): Promise<Command[]>;
  postpone(id: string, deadlineAt: string): Promise<void>;
  notes(commandId: string, afterSequence: number, limit: number): Promise<CommandNote[]>;
  /** Deletes finished commands older than `before`, and all but the newest `keep` of each cluster. */
  prune(before: string, keep: number): Promise<void>;
}

export interface NoteLimits {
  notes: number;
  outputBytes: number;
}

export interface DeploymentStore {
  find(clusterId: string, id: string): Promise<Deployment | undefined>;
  findByCommand(commandId: string): Promise<Deployment | undefined>;
  list(clusterId: string, projectId: string | null, page: PageRequest): Promise<Page<Deployment>>;
}
