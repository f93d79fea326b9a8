import type { GrantedAccess } from '@svc/http';
import type { Breach, Limits } from '@svc/quotas';
import type { Admission, QuotaRefusal } from './admission.ts';
import type { Sandbox, SandboxChange, SandboxStatus } from './sandbox.ts';

/** Time and chance, so that a test can move the one and name the other. */
export interface Effects {
  now(): Date;
  /** Runs once after the delay; the answer cancels it. A pending timer does not keep the process alive. */
  setTimer(callback: () => void, delayMs: number): () => void;
  randomBytes(sizeBytes: number): Buffer;
}

export interface SandboxFilter {
  readonly status?: SandboxStatus | undefined;
  readonly name?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly pageSize: number;
  readonly cursor: string | null;
}

export interface SandboxPage {
  readonly sandboxes: readonly Sandbox[];
  readonly nextCursor: string | null;
}

export interface RepeatedRequest {
  readonly key: string;
  /** Of the whole request: the same key for another request is a mistake of the caller. */
  readonly requestHash: string;
}

export type Restart = { readonly sandbox: Sandbox | null } | { readonly breach: Breach };

export type InsertOutcome =
  | { readonly outcome: 'inserted' }
  | { readonly outcome: 'name_taken' }
  | { readonly outcome: 'refused'; readonly refusal: QuotaRefusal }
  | { readonly outcome: 'repeated'; readonly sandboxId: string; readonly sameRequest: boolean };

/** The records. Removed sandboxes are invisible but to `removed` and `purge`. */
export interface SandboxRepository {
  /** One transaction: idempotency key, the caller's limit, the quotas, the name, the record. */
  insert(sandbox: Sandbox, admission: Admission, repeated: RepeatedRequest | null): Promise<InsertOutcome>;
  find(id: string): Promise<Sandbox | null>;
  list(workspaceUuid: string, filter: SandboxFilter): Promise<SandboxPage>;
  /** Changes it if it is (still) in one of the states; answers the new record or null. A new state is no pause. */
  change(id: string, from: readonly SandboxStatus[], change: SandboxChange): Promise<Sandbox | null>;
  /**
   * As `change` to `creating` from a state that takes no CPU and memory: one transaction with the quotas. Answers null
   * when it was not in one of the states.
   */
  restart(id: string, from: readonly SandboxStatus[], change: SandboxChange, limits: Limits): Promise<Restart>;
  touch(id: string, at: string): Promise<void>;
  /** Marks it deleted: its name and its place in the quota are free at once. Answers false when it was already. */
  remove(id: string, at: string): Promise<boolean>;
  /** What was deleted on this node and not yet purged. */
  removed(node: string): Promise<readonly string[]>;
  purge(id: string): Promise<void>;
  /** Those of this node in any of the states. */
  ofNode(node: string, states: readonly SandboxStatus[]): Promise<readonly Sandbox[]>;
  /** How many sandboxes a workspace has; with `state`, how many of them run or are paused. */
  ofWorkspace(workspaceUuid: string, state?: 'running' | 'paused'): Promise<number>;
  purgeRepeated(before: string): Promise<void>;
}

export interface TicketRepository {
  insert(ticket: { hash: string; sandboxId: string; granted: GrantedAccess; expiresAt: string }): Promise<void>;
  /** Answers the ticket and makes it worthless, once. */
  take(hash: string, now: string): Promise<{ sandboxId: string; granted: GrantedAccess } | null>;
  purge(before: string): Promise<void>;
}
