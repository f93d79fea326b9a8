import type { EgressRule } from './egress-rules/egress-rule.ts';
import type { Isolation, MountedVolume, NetworkMode, SandboxResources } from './driver.ts';
import type { SandboxCluster } from './clusters/sandbox-cluster.ts';
import type { BucketMount } from './mounts/bucket-mount.ts';
import type { SandboxTemplate } from './templates/sandbox-template.ts';
import type { CauseCode } from '../errors.ts';

export type SandboxStatus = 'creating' | 'running' | 'stopped' | 'error';

/**
 * What a drain of the node does: `snapshot` also takes a snapshot of the stopped sandbox, `move` starts it on another
 * node with its files.
 */
export type OnDrain = 'stop' | 'snapshot' | 'move';

/**
 * What happens when the node does not respond: `wait` for its return, or `restore` the last archived snapshot on another
 * node.
 */
export type OnNodeLost = 'wait' | 'restore';

/** What happens to a sandbox when it expires. `pause` and `stop` keep it, without an expiry. */
export type ExpiryAction = 'delete' | 'pause' | 'stop';

export interface SandboxFault {
  readonly code: CauseCode;
  readonly message: string;
  /** A start may recover the sandbox with its files. */
  readonly recoverable: boolean;
}

/** A volume of the workspace in a sandbox. The name is the volume's for as long as a sandbox mounts it. */
export interface VolumeMount extends MountedVolume {
  readonly name: string;
}

/** Times are ISO 8601 UTC with milliseconds. */
export interface Sandbox {
  readonly id: string;
  readonly workspaceUuid: string;
  readonly ownerId: string;
  readonly node: string;
  readonly driver: string;
  /** The connected cluster that runs it; null for the configured driver. */
  readonly cluster: SandboxCluster | null;
  readonly name: string;
  /** The name or alias given at creation. */
  readonly image: string;
  /** Snapshot that provided the initial files, instead of the bare image. */
  readonly snapshotId: string | null;
  /** Built image that provided the initial files, and what it starts. */
  readonly template: SandboxTemplate | null;
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
  readonly volumes: readonly VolumeMount[];
  readonly mounts: readonly BucketMount[];
  readonly idleTimeoutSeconds: number | null;
  readonly expiresAt: string | null;
  readonly onDrain: OnDrain;
  readonly onNodeLost: OnNodeLost;
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
    | 'labels'
  >
>;

/**
 * Whether this sandbox was reported as lost without being asked, so that it may still run: by another node, or because its
 * cluster was away. What its own node lost is not running, or cannot be recovered.
 */
export function isReportedLost({ status, fault }: Pick<Sandbox, 'status' | 'fault'>): boolean {
  const isLost = fault?.code === 'NODE_LOST' || fault?.code === 'CLUSTER_OFFLINE';
  return status === 'error' && isLost && fault.recoverable;
}
