import type { SandboxCluster } from '../domain/clusters/sandbox-cluster.ts';
import type { BucketMount } from '../domain/mounts/bucket-mount.ts';
import type {
  ExpiryAction,
  OnDrain,
  OnNodeLost,
  Sandbox,
  SandboxFault,
  SandboxStatus,
  VolumeMount,
} from '../domain/sandbox.ts';
import type { SandboxTemplate } from '../domain/templates/sandbox-template.ts';
import type { EgressRule } from '../domain/egress-rules/egress-rule.ts';
import type { Isolation, NetworkMode } from '../domain/driver.ts';
import { isCauseCode } from '../errors.ts';
import type { SandboxRow } from './tables.ts';

export function toRow(sandbox: Sandbox, accountableId: string): SandboxRow {
  return {
    id: sandbox.id,
    workspace_uuid: sandbox.workspaceUuid,
    owner_id: sandbox.ownerId,
    accountable_id: accountableId,
    node: sandbox.node,
    driver: sandbox.driver,
    name: sandbox.name,
    taken_name: sandbox.removedAt === null ? sandbox.name : null,
    image: sandbox.image,
    snapshot_id: sandbox.snapshotId,
    status: sandbox.status,
    state_reason: sandbox.stateReason,
    ...faultColumns(sandbox.fault),
    environment: JSON.stringify(sandbox.environment),
    labels: JSON.stringify(sandbox.labels),
    cpu_millis: sandbox.resources.cpuMillis,
    memory_mb: sandbox.resources.memoryMb,
    disk_mb: sandbox.resources.diskMb,
    pids: sandbox.resources.pids,
    gpus: sandbox.resources.gpus ?? 0,
    network: sandbox.network,
    egress_allow: sandbox.egressAllow === null ? null : JSON.stringify(sandbox.egressAllow),
    isolation: sandbox.isolation,
    volumes: sandbox.volumes.length === 0 ? null : JSON.stringify(sandbox.volumes),
    mounts: sandbox.mounts.length === 0 ? null : JSON.stringify(sandbox.mounts),
    cluster: sandbox.cluster === null ? null : JSON.stringify(sandbox.cluster),
    idle_timeout_seconds: sandbox.idleTimeoutSeconds,
    expires_at: sandbox.expiresAt,
    on_drain: sandbox.onDrain === 'move' ? 'stop' : sandbox.onDrain, // what earlier versions do
    moves_on_drain: sandbox.onDrain === 'move' ? 1 : 0,
    on_node_lost: sandbox.onNodeLost,
    on_expiry: sandbox.onExpiry,
    resume_seconds: sandbox.resumeSeconds,
    request_host: sandbox.requestHost,
    created_at: sandbox.createdAt,
    started_at: sandbox.startedAt,
    last_activity_at: sandbox.lastActivityAt,
    removed_at: sandbox.removedAt,
    egress_rules: rulesColumn(sandbox.egressRules),
    template: templateColumn(sandbox.template),
    paused_at: sandbox.pausedAt,
  };
}

export function rulesColumn(rules: readonly EgressRule[]): string | null {
  return rules.length === 0 ? null : JSON.stringify(rules);
}

export function parseRules(column: string | null): readonly EgressRule[] {
  return column === null ? [] : (JSON.parse(column) as EgressRule[]); // written by `rulesColumn`
}

export function templateColumn(template: SandboxTemplate | null): string | null {
  return template === null ? null : JSON.stringify(template);
}

export function parseTemplate(column: string | null): SandboxTemplate | null {
  return column === null ? null : (JSON.parse(column) as SandboxTemplate); // written by `templateColumn`
}

export function faultColumns(
  fault: SandboxFault | null,
): Pick<SandboxRow, 'error_code' | 'error_message' | 'error_recoverable'> {
  return {
    error_code: fault?.code ?? null,
    error_message: fault?.message ?? null,
    error_recoverable: fault?.recoverable === true ? 1 : 0,
  };
}

/** Only `toRow` writes rows, so their text values have our types. */
export function fromRow(row: SandboxRow): Sandbox {
  return {
    id: row.id,
    workspaceUuid: row.workspace_uuid,
    ownerId: row.owner_id,
    node: row.node,
    driver: row.driver,
    name: row.name,
    image: row.image,
    snapshotId: row.snapshot_id,
    status: row.status as SandboxStatus,
    stateReason: row.state_reason,
    fault:
      row.error_code === null || !isCauseCode(row.error_code)
        ? null
        : { code: row.error_code, message: row.error_message ?? '', recoverable: row.error_recoverable === 1 },
    environment: JSON.parse(row.environment) as Record<string, string>,
    labels: JSON.parse(row.labels) as Record<string, string>,
    resources: {
      cpuMillis: row.cpu_millis,
      memoryMb: row.memory_mb,
      diskMb: row.disk_mb,
      pids: row.pids,
      ...(row.gpus > 0 && { gpus: row.gpus }),
    },
    network: row.network as NetworkMode,
    egressAllow: row.egress_allow === null ? null : (JSON.parse(row.egress_allow) as string[]),
    egressRules: parseRules(row.egress_rules),
    template: parseTemplate(row.template),
    isolation: parseIsolation(row.isolation),
    volumes: row.volumes === null ? [] : (JSON.parse(row.volumes) as VolumeMount[]), // written by `toRow`
    mounts: row.mounts === null ? [] : (JSON.parse(row.mounts) as BucketMount[]), // written by `toRow`
    cluster: parseCluster(row.cluster),
    idleTimeoutSeconds: row.idle_timeout_seconds,
    expiresAt: row.expires_at,
    onDrain: row.moves_on_drain === 1 ? 'move' : (row.on_drain as OnDrain),
    onNodeLost: row.on_node_lost as OnNodeLost,
    onExpiry: row.on_expiry as ExpiryAction,
    resumeSeconds: row.resume_seconds,
    requestHost: row.request_host,
    createdAt: row.created_at,
    startedAt: row.started_at,
    lastActivityAt: row.last_activity_at,
    removedAt: row.removed_at,
    pausedAt: row.paused_at,
  };
}

export function parseCluster(column: string | null): SandboxCluster | null {
  return column === null ? null : (JSON.parse(column) as SandboxCluster); // written by `toRow`
}

/** Older rows contain `default`, which meant namespaces. */
function parseIsolation(text: string): Isolation {
  return text === 'gvisor' ? 'gvisor' : 'namespaces';
}
