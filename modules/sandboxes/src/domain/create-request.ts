import { createHash } from 'node:crypto';
import type { Principal } from '@svc/access';
import { sandboxErrors } from '../errors.ts';
import type { SandboxContext } from './context.ts';
import type { ChosenCluster } from './clusters/choose-cluster.ts';
import type { EgressRule } from './egress-rules/egress-rule.ts';
import { assertAppliesRules } from './egress-rules/rule-support.ts';
import type { SandboxResources, NetworkMode, Isolation, SandboxDriver } from './driver.ts';
import type { ExpiryAction, OnDrain, OnNodeLost, VolumeMount } from './sandbox.ts';
import { assertMountsBuckets, type BucketMount } from './mounts/bucket-mount.ts';
import type { SandboxTemplate } from './templates/sandbox-template.ts';
import { assertHasVolumes } from './volumes/volume.ts';

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
  /** Volumes of the workspace on this node. */
  readonly volumes: readonly VolumeMount[];
  /** Buckets of the workspace that its creator may use. */
  readonly mounts: readonly BucketMount[];
  /** Connected cluster to run in; null for the configured driver. */
  readonly cluster: ChosenCluster | null;
  readonly idleTimeoutSeconds: number | null;
  readonly maxLifetimeSeconds: number | null;
  /** Latest time at which the sandbox expires. */
  readonly expiresAt: string | null;
  readonly onDrain: OnDrain;
  readonly onNodeLost: OnNodeLost;
  readonly onExpiry: ExpiryAction;
  readonly resumeSeconds: number | null;
  readonly requestHost: string | null;
  /** Limit of this caller; usually `maxPerCaller` of the configuration. */
  readonly limit: number;
  readonly idempotencyKey: string | null;
}

/** A hash of the whole request. Matches the format of stored hashes: fields that came later count only if they differ from their defaults. */
export function hashOf({
  maker,
  workspaceUuid,
  egressRules,
  onDrain,
  onNodeLost,
  onExpiry,
  resumeSeconds,
  requestHost,
  volumes,
  mounts,
  template,
  cluster,
  ...rest
}: CreateRequest): string {
  const later = {
    ...(egressRules.length === 0 ? {} : { egressRules }),
    ...(onDrain === 'stop' ? {} : { onDrain }),
    ...(onNodeLost === 'wait' ? {} : { onNodeLost }),
    ...(onExpiry === 'delete' ? {} : { onExpiry }),
    ...(resumeSeconds === null ? {} : { resumeSeconds }),
    ...(requestHost === null ? {} : { requestHost }),
    ...(volumes.length === 0 ? {} : { volumes }),
    ...(mounts.length === 0 ? {} : { mounts }),
    ...(template === null ? {} : { template }),
    ...(cluster === null ? {} : { cluster: cluster.id }),
  };
  const request = { workspaceUuid, ownerId: maker.id, ...rest, ...later, idempotencyKey: null };
  return createHash('sha256').update(JSON.stringify(request)).digest('hex');
}

type Stores = Pick<SandboxContext, 'archives' | 'storage'>;

/** Throws RESTORE_UNAVAILABLE if the sandbox could not continue elsewhere from an archive. */
function assertRestores(
  { volumes, cluster }: CreateRequest,
  field: string,
  driver: SandboxDriver,
  { archives, storage }: Stores,
): void {
  const refuse = (reason: string): never => {
    throw sandboxErrors.RESTORE_UNAVAILABLE({ details: { field, reason } });
  };
  if (volumes.length > 0) refuse('volumes stay on their node');
  if (cluster !== null && storage !== null) return; // in the same cluster
  if (archives === null) refuse('requires an object store on an S3 engine and PostgreSQL');
  if (driver.snapshots?.archives === undefined) refuse(`the driver ${driver.name} cannot`);
}

function assertDrains({ onDrain, cluster }: CreateRequest, { name, snapshots }: SandboxDriver): void {
  if (onDrain === 'stop') return;
  if (cluster !== null) {
    const reason = 'the drain of a node does not stop sandboxes in clusters; leave it out';
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'on_drain', reason } });
  }
  if (onDrain === 'snapshot' && snapshots === undefined) {
    throw sandboxErrors.SNAPSHOTS_UNAVAILABLE({ details: { field: 'on_drain', driver: name } });
  }
}

/** Refuses by name what a request wants and the driver lacks. */
export function assertSupported(request: CreateRequest, driver: SandboxDriver, stores: Stores): void {
  const { name } = driver;
  if (request.snapshotId !== null && driver.snapshots === undefined && driver.saves === undefined) {
    throw sandboxErrors.SNAPSHOTS_UNAVAILABLE({ details: { field: 'snapshot_id', driver: name } });
  }
  if (request.template !== null && driver.builds === undefined && driver.usesTemplates !== true) {
    throw sandboxErrors.TEMPLATES_UNSUPPORTED({ details: { field: 'template', driver: name } });
  }
  assertDrains(request, driver);
  if (request.volumes.length > 0) assertHasVolumes(driver, 'volumes');
  if (request.mounts.length > 0) assertMountsBuckets(driver, request.isolation);
  if (request.onNodeLost === 'restore') assertRestores(request, 'on_node_lost', driver, stores);
  if (request.onDrain === 'move') assertRestores(request, 'on_drain', driver, stores);
  if (request.egressAllow !== null && driver.limitsEgress !== true) {
    throw sandboxErrors.UNSUPPORTED_EGRESS({ details: { field: 'egress_allow', driver: name } });
  }
  if ((request.resources.gpus ?? 0) > 0 && driver.hasGpus !== true) {
    throw sandboxErrors.GPUS_UNAVAILABLE({ details: { field: 'resources.gpus', driver: name } });
  }
  if (request.egressRules.length > 0) assertAppliesRules(driver, request.network);
  if (request.onExpiry === 'pause' && driver.lacks?.has('pause') === true) {
    throw sandboxErrors.PAUSE_UNAVAILABLE({ details: { field: 'on_expiry', driver: name } });
  }
}
