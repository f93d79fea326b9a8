import type { Principal } from '@svc/access';
import type { EgressRule } from './egress-rules/egress-rule.ts';
import type { SandboxResources, NetworkMode, Isolation } from './driver.ts';
import type { SandboxTemplate } from './templates/sandbox-template.ts';
import type { ExpiryAction, OnDrain } from './sandbox.ts';

export interface CreateRequest {
  readonly workspaceUuid: string;
  readonly maker: Pick<Principal, 'kind' | 'id'>;
  readonly image: string;
  /** Snapshot that provides the initial files. It belongs to the workspace, and `image` is its image. */
  readonly snapshotId: string | null;
  /** Built image that provides the initial files. It belongs to the workspace, and `image` names it. */
  readonly template: SandboxTemplate | null;
  readonly name: string | null;
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly resources: SandboxResources;
  readonly network: NetworkMode;
  readonly egressAllow: readonly string[] | null;
  readonly egressRules: readonly EgressRule[];
  readonly isolation: Isolation;
  readonly idleTimeoutSeconds: number | null;
  readonly maxLifetimeSeconds: number | null;
  /** Latest time at which the sandbox expires. */
  readonly expiresAt: string | null;
  readonly onDrain: OnDrain;
  readonly onExpiry: ExpiryAction;
  readonly resumeSeconds: number | null;
  /** Limit of this caller; usually `maxPerCaller` of the configuration. */
  readonly limit: number;
  readonly idempotencyKey: string | null;
}
