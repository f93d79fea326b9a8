import type { CommandName, CommandStatus, MessageError } from '@svc/protocol';
import type { Limits } from '@svc/quotas';
import type { Page } from '@svc/runtime';
import type { PageRequest } from './paging.ts';

/** `dispatched` = sent; `running` = acknowledged by the agent. The last six are final. */
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
  /** From dispatch to result: the agent's own limit plus a grace period. */
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
  /** How long it may wait for its agent. */
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
  /** The same key with the same request returns the first command; with a different request it is refused. */
  idempotency: IdempotencyKey | null;
  maxOpenCommands: number;
  /** Limits of the cluster's workspace and its owner. */
  limits: Limits;
}

/** One entry in a command's history, ordered by `sequence`: state change, progress, output or result. */
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

/** The process that receives a command, and the on-disk outbox that it shares with its predecessors and successors. */
export interface CommandReceiver {
  clusterId: string;
  /** Only the agent's newest connection takes commands. */
  epoch: number;
  instanceId: string | null;
  outboxId: string | null;
}

/** `gone`: the command is no longer queued. `superseded`: the agent has a newer connection. */
export type ClaimOutcome = 'claimed' | 'gone' | 'superseded';

/** Stores commands before they are sent: a command that is not stored was never issued. */
export interface CommandStore {
  /**
   * Throws `IDEMPOTENCY_CONFLICT` or `TOO_MANY_COMMANDS`. A deployment supersedes queued ones of the same project and
   * namespace.
   */
  submit(submission: CommandSubmission): Promise<{ commandId: string; replayed: boolean }>;
  /** Returns the id of the command created with this key; throws `IDEMPOTENCY_CONFLICT`. */
  replay(clusterId: string, idempotency: IdempotencyKey): Promise<string | undefined>;
  find(clusterId: string, id: string): Promise<Command | undefined>;
  payload(id: string): Promise<Record<string, unknown> | undefined>;
  list(clusterId: string, page: PageRequest): Promise<Page<Command>>;
  /** Unfinished commands, oldest first. */
  open(clusterId: string, states: readonly CommandState[], limit: number): Promise<Command[]>;
  /** Ids of the clusters that have a queued command. */
  waitingClusters(limit: number): Promise<string[]>;
  /** Unfinished commands that were sent and are to be cancelled. */
  cancelling(limit: number): Promise<Pick<Command, 'clusterId' | 'id'>[]>;
  /** queued -> dispatched. */
  claim(id: string, receiver: CommandReceiver, at: string, deadlineAt: string): Promise<ClaimOutcome>;
  /** Resends the command to an instance that may not have it. Returns false if it or the connection has ended. */
  reclaim(id: string, receiver: CommandReceiver, at: string, deadlineAt: string): Promise<boolean>;
  acknowledge(clusterId: string, id: string, running: boolean, at: string): Promise<boolean>;
  /**
   * Appends a note within the limits. Returns false for an unknown or finished command, a duplicate, or a note over the
   * limits.
   */
  note(clusterId: string, id: string, draft: NoteDraft, at: string, limits: NoteLimits): Promise<boolean>;
  /** Stores the only result. Returns false if one exists. */
  finish(clusterId: string, id: string, outcome: CommandOutcome, at: string): Promise<boolean>;
  /** Requests cancellation; a queued command is cancelled immediately. Returns the new state. */
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
