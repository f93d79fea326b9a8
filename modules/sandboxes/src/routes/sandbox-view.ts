import { deniedRanges } from '../domain/egress-hosts.ts';
import type { Static } from 'typebox';
import type { EgressRule } from '../domain/egress-rules/egress-rule.ts';
import { sharesKernel } from '../domain/isolation.ts';
import type { Sandbox } from '../domain/sandbox.ts';
import type { ImageProgress } from '../domain/images/progress.ts';
import { toProgressView } from './progress-view.ts';
import type { egressRuleSchema, sandboxSchema } from './schemas.ts';

/** Reports the progress of images being prepared, by name or alias. */
export interface ImageProgressSource {
  findProgress(image: string): ImageProgress | null;
}

/** Renders a sandbox as the contract specifies, with image progress while it waits for its image. */
export function toSandboxView(sandbox: Sandbox, images: ImageProgressSource): Static<typeof sandboxSchema> {
  return {
    id: sandbox.id,
    name: sandbox.name,
    image: sandbox.image,
    snapshot_id: sandbox.snapshotId,
    template_build_id: sandbox.template?.buildId ?? null,
    status: sandbox.status,
    state_reason: sandbox.stateReason,
    error: sandbox.fault,
    created_at: sandbox.createdAt,
    started_at: sandbox.startedAt,
    paused_at: sandbox.pausedAt,
    expires_at: sandbox.expiresAt,
    on_expiry: sandbox.onExpiry,
    last_activity_at: sandbox.lastActivityAt,
    labels: sandbox.labels,
    environment: sandbox.environment,
    resources: {
      cpu: sandbox.resources.cpuMillis / 1000,
      memory_mb: sandbox.resources.memoryMb,
      disk_mb: sandbox.resources.diskMb,
      pids: sandbox.resources.pids,
      ...(sandbox.resources.gpus !== undefined && { gpus: sandbox.resources.gpus }),
    },
    driver: sandbox.driver,
    cluster: sandbox.cluster?.name ?? null,
    isolation: sandbox.isolation,
    shares_kernel: sharesKernel(sandbox.isolation),
    network: sandbox.network,
    egress_allow: sandbox.egressAllow === null ? null : [...sandbox.egressAllow],
    egress_deny: deniedRanges(sandbox.egressAllow),
    egress_rules: sandbox.egressRules.map(toRuleView),
    volumes: sandbox.volumes.map(({ name, path, readOnly }) => ({ name, path, read_only: readOnly })),
    mounts: sandbox.mounts.map(({ bucket, prefix, path, readOnly, forkedFrom }) => ({
      bucket,
      prefix,
      path,
      read_only: readOnly,
      ...(forkedFrom === undefined ? {} : { forked_from: forkedFrom }),
    })),
    on_drain: sandbox.onDrain,
    on_node_lost: sandbox.onNodeLost,
    image_progress: toProgressView(sandbox.status === 'creating' ? images.findProgress(sandbox.image) : null),
  };
}

function toRuleView({ header, query, ...rule }: EgressRule): Static<typeof egressRuleSchema> {
  return { ...rule, ...(header === null ? {} : { header }), ...(query === null ? {} : { query }) };
}
