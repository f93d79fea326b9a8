import type { UniqueKey } from '@svc/sql';

/** `taken_name` is the name while the sandbox exists, null after its removal. */
export const SANDBOX_NAME: UniqueKey = {
  constraint: 'sandbox_workspace_name',
  table: 'sandbox',
  columns: ['workspace_uuid', 'taken_name'],
};

/** `taken_name` is the name of a volume while it exists. */
export const VOLUME_NAME: UniqueKey = {
  constraint: 'sandbox_volume_name',
  table: 'sandbox_volume',
  columns: ['workspace_uuid', 'taken_name'],
};

export const SECRET_NAME: UniqueKey = {
  constraint: 'workspace_secret_name',
  table: 'workspace_secret',
  columns: ['workspace_uuid', 'name'],
};

/**
 * Rows as defined by migrations 0020, 0055 to 0059, 0071, 0081, 0087, 0140, 0141, 0143, 0150, 0151, 0170, 0180, 0190, 0200,
 * 0201, 0211, 0220, 0240, 0250, 0251, 0301, 0310, 0320 and 0321. Times are ISO 8601 UTC, objects are JSON text, booleans are 0 or 1.
 */
export interface SandboxTables {
  sandbox: SandboxRow;
  sandbox_label: { sandbox_id: string; key: string; value: string };
  sandbox_idempotency: {
    workspace_uuid: string;
    owner_id: string;
    key: string;
    request_hash: string;
    sandbox_id: string;
    created_at: string;
  };
  sandbox_snapshot: SnapshotRow;
  sandbox_archive: ArchiveRow;
  sandbox_restore: { sandbox_id: string; restores: number; refusals: number; next_attempt_at: string };
  sandbox_move: { sandbox_id: string; from_node: string; moved_at: string };
  sandbox_terminal: { id: string; workspace_uuid: string; node: string };
  sandbox_event_counter: { workspace_uuid: string; last_sequence: number };
  sandbox_event: {
    workspace_uuid: string;
    sequence: number;
    sandbox_id: string;
    type: string;
    newer_type: string | null;
    at: string;
    details: string;
  };
  sandbox_metric: {
    sandbox_id: string;
    at: string;
    cpu_millis: number | null;
    memory_bytes: number | null;
    pids: number | null;
    disk_bytes: number | null;
  };
  sandbox_preview: {
    id: string;
    sandbox_id: string;
    port: number;
    owner_id: string;
    granted: string;
    created_at: string;
    expires_at: string;
  };
  sandbox_node: NodeRow;
  sandbox_volume_access: { id: string; volume_id: string; holder: string; granted: string; created_at: string };
  sandbox_access: { id: string; sandbox_id: string; holder: string; granted: string; created_at: string };
  workspace_secret: SecretRow;
  sandbox_authority: { sandbox_id: string; certificate: string; wrapper: string; box: string };
  sandbox_volume: VolumeRow;
  sandbox_volume_mount: { sandbox_id: string; volume_id: string; read_only: number };
  template: { id: string; workspace_uuid: string; name: string; owner_id: string; created_at: string };
  template_tag: { template_id: string; tag: string; build_id: string; created_at: string };
  template_build: TemplateBuildRow;
  template_layer: TemplateLayerRow;
  template_log: { build_id: string; sequence: number; at: string; level: string; step: number | null; message: string };
  sandbox_cluster: ClusterRow;
  sandbox_pull_credential: { id: string; subject: string; workspace_uuid: string | null; created_at: string };
  sandbox_fork_copy: {
    id: string;
    fork_id: string;
    node: string;
    workspace_uuid: string;
    kind: string;
    name: string;
    source_name: string;
    created_at: string;
  };
  sandbox_webhook: WebhookRow;
  sandbox_webhook_delivery: WebhookDeliveryRow;
  sandbox_ticket: { hash: string; sandbox_id: string; granted: string; expires_at: string };
}

export interface SandboxRow {
  id: string;
  workspace_uuid: string;
  owner_id: string;
  accountable_id: string;
  node: string;
  driver: string;
  name: string;
  taken_name: string | null;
  image: string;
  status: string;
  state_reason: string | null;
  error_code: string | null;
  error_message: string | null;
  error_recoverable: number;
  environment: string;
  labels: string;
  cpu_millis: number;
  memory_mb: number;
  disk_mb: number;
  pids: number;
  gpus: number;
  network: string;
  egress_allow: string | null;
  isolation: string;
  idle_timeout_seconds: number | null;
  expires_at: string | null;
  on_drain: string;
  on_node_lost: string;
  moves_on_drain: number;
  created_at: string;
  started_at: string | null;
  last_activity_at: string;
  removed_at: string | null;
  paused_at: string | null;
  snapshot_id: string | null;
  on_expiry: string;
  resume_seconds: number | null;
  request_host: string | null;
  egress_rules: string | null;
  volumes: string | null;
  mounts: string | null;
  cluster: string | null;
  template: string | null;
}

/** What the node with the tunnel of a cluster reported last about sandboxes there. */
export interface ClusterRow {
  cluster_id: string;
  workspace_uuid: string;
  reason: string | null;
  fingerprint: string | null;
  has_gvisor: number;
  missing_capabilities: string | null;
  reported_at: string;
}

/** A value sealed under the master key that `wrapper` names. */
export interface SecretRow {
  id: string;
  workspace_uuid: string;
  name: string;
  version: number;
  wrapper: string;
  box: string;
  creator_id: string;
  created_at: string;
  updated_at: string;
}

/** The secrets that sign are sealed together. PostgreSQL returns big integers as text. */
export interface WebhookRow {
  id: string;
  workspace_uuid: string;
  url: string;
  description: string;
  events: string | null;
  enabled: number;
  disabled_reason: string | null;
  wrapper: string;
  box: string;
  creator_id: string;
  created_at: string;
  updated_at: string;
  position: number | string;
  failing_since_ms: number | string | null;
  last_error: string | null;
  missed: number | string;
  lease_holder: string | null;
  lease_until_ms: number | string;
}

/** PostgreSQL returns big integers as text. */
export interface WebhookDeliveryRow {
  webhook_id: string;
  sequence: number | string;
  sandbox_id: string;
  type: string;
  state: string;
  attempts: number;
  next_attempt_at_ms: number | string;
  attempted_at: string;
  status: number | null;
  error: string | null;
}

/** PostgreSQL returns big integers as text. */
export interface VolumeRow {
  id: string;
  workspace_uuid: string;
  owner_id: string;
  node: string;
  driver: string;
  kind: string;
  name: string;
  taken_name: string | null;
  size_mb: number;
  size_bytes: number | string;
  source_id: string | null;
  state: string;
  created_at: string;
}

/** Times are the database's. PostgreSQL returns big integers as text. */
export interface NodeRow {
  node: string;
  driver: string;
  max_running: number;
  cpus: number | null;
  memory_bytes: number | string | null;
  free_memory_bytes: number | string | null;
  free_disk_bytes: number | string | null;
  reported_at: string;
  drain_requested_at: string | null;
}

export interface SnapshotRow {
  id: string;
  workspace_uuid: string;
  owner_id: string;
  accountable_id: string;
  node: string;
  driver: string;
  name: string;
  sandbox_id: string;
  image: string;
  disk_mb: number;
  size_bytes: number;
  state: string;
  created_at: string;
  egress_rules: string | null;
  template: string | null;
  archived_at: string | null;
  archive_bytes: number | string;
  archive_error: string | null;
}

/** `snapshot_id` is null for images. `state` is writing, ready, removed or abandoned. */
export interface ArchiveRow {
  id: string;
  snapshot_id: string | null;
  base: string | null;
  format: string;
  node: string;
  state: string;
  size_bytes: number | string;
  wrapper: string;
  box: string;
  used_at: string;
  /** Null until it is complete. */
  ready_at: string | null;
  /** Of an image that belongs to a workspace. */
  workspace_uuid: string | null;
  /** Null if an earlier version wrote it. */
  unpacked_bytes: number | string | null;
}

export interface TemplateBuildRow {
  id: string;
  template_id: string;
  workspace_uuid: string;
  owner_id: string;
  node: string;
  status: string;
  tags: string;
  reason: string | null;
  resources: string;
  outcome: string | null;
  layer_id: string | null;
  digest: string | null;
  log_lines: number;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  /** Why the last attempt to archive its image failed. */
  archive_error: string | null;
}

export interface TemplateLayerRow {
  id: string;
  workspace_uuid: string;
  node: string;
  cache_key: string;
  digest: string;
  size_bytes: number;
  created_at: string;
  last_used_at: string;
}
