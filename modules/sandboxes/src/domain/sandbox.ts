import type { EgressRule } from './egress-rules/egress-rule.ts';
import type { Isolation, NetworkMode, SandboxResources } from './driver.ts';
import type { CauseCode } from '../errors.ts';

export type SandboxStatus = 'creating' | 'running' | 'stopped' | 'error';

/** What a drain of the node does: `snapshot` also takes a snapshot of the stopped sandbox. */
export type OnDrain = 'stop' | 'snapshot';

/** What happens to a sandbox when it expires. `pause` and `stop` keep it, without an expiry. */
export type ExpiryAction = 'delete' | 'pause' | 'stop';

export interface SandboxFault {
  readonly code: CauseCode;
  readonly message: string;
  /** A start may recover the sandbox with its files. */
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
  /** The name or alias given at creation. */
  readonly image: string;
  /** Snapshot that provided the initial files, instead of the bare image. */
  readonly snapshotId: string | null;
  readonly status: SandboxStatus;
  /** Reason code for the state: a cause code, or why it was stopped. */
  readonly stateReason: string | null;
  readonly fault: SandboxFault | null;
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly resources: SandboxResources;
  readonly network: NetworkMode;
  /** What it may reach, as returned by `egressTarget`; null for all public hosts. */
  readonly egressAllow: readonly string[] | null;
  /** Secrets that are added to its requests outside of it. */
  readonly egressRules: readonly EgressRule[];
  readonly isolation: Isolation;
  readonly idleTimeoutSeconds: number | null;
  readonly expiresAt: string | null;
  readonly onDrain: OnDrain;
  readonly onExpiry: ExpiryAction;
  /** How long a use continues it after its expiry; null if only a start does. */
  readonly resumeSeconds: number | null;
  /** Replaces `Host` in requests to its ports, `${PORT}` by the port; null keeps what the client asked for. */
  readonly requestHost: string | null;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly lastActivityAt: string;
  readonly removedAt: string | null;
  /** Status stays `running` while paused: the processes exist but are frozen. */
  readonly pausedAt: string | null;
}

/** Fields that change over a sandbox's life; all others are set once. */
export type SandboxChange = Partial<
  Pick<
    Sandbox,
    | 'status'
    | 'stateReason'
    | 'fault'
    | 'startedAt'
    | 'lastActivityAt'
    | 'pausedAt'
    | 'expiresAt'
    | 'egressAllow'
    | 'egressRules'
  >
>;
