import type { Isolation, NetworkMode, SandboxResources } from './driver.ts';
import type { CauseCode } from '../errors.ts';

export type SandboxStatus = 'creating' | 'running' | 'stopped' | 'error';

export interface SandboxFault {
  readonly code: CauseCode;
  readonly message: string;
  /** A start may bring it back with its files. */
  readonly recoverable: boolean;
}

/** Times are ISO 8601 UTC with milliseconds. */
export interface Sandbox {
  readonly id: string;
  readonly workspaceUuid: string;
  readonly ownerId: string;
  readonly node: string;
  readonly driver: string;
  readonly name: string;
  /** The name or alias that the create named. */
  readonly image: string;
  /** What its files began with, instead of the bare image. */
  readonly snapshotId: string | null;
  readonly status: SandboxStatus;
  /** Why it is in that state, as a code: a cause code, or what ended it. */
  readonly stateReason: string | null;
  readonly fault: SandboxFault | null;
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly resources: SandboxResources;
  readonly network: NetworkMode;
  /** The hosts that it may reach; null: whatever is public. */
  readonly egressAllow: readonly string[] | null;
  readonly isolation: Isolation;
  readonly idleTimeoutSeconds: number | null;
  readonly expiresAt: string | null;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly lastActivityAt: string;
  readonly removedAt: string | null;
  /** A paused one is `running` all the same: its processes are there and stand still. */
  readonly pausedAt: string | null;
}

/** What changes in the life of a sandbox; everything else is set once. */
export type SandboxChange = Partial<
  Pick<Sandbox, 'status' | 'stateReason' | 'fault' | 'startedAt' | 'lastActivityAt' | 'pausedAt'>
>;
