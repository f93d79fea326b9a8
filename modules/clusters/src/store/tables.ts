import type { UniqueKey } from '@svc/sql';
import type { Kysely } from 'kysely';

export const CLUSTER_NAME: UniqueKey = {
  constraint: 'cluster_workspace_name',
  table: 'cluster',
  columns: ['workspace_uuid', 'name'],
};
export const IDEMPOTENCY_KEY: UniqueKey = {
  constraint: 'cluster_idempotency_key',
  table: 'cluster_idempotency',
  columns: ['cluster_id', 'key'],
};

/**
 * Rows as created by migrations 0030 to 0032, 0067 to 0070, 0073 and 0088. Times are ISO 8601 UTC text, flags are 0
 * and 1, JSON is text.
 */
export interface ClusterTables {
  cluster: ClusterRow;
  cluster_token: { hash: string; cluster_id: string; created_at: string; expires_at: string | null };
  cluster_tunnel: {
    cluster_id: string;
    epoch: number;
    replica_id: string | null;
    lease_until: string | null;
    connected_at: string;
  };
  cluster_tunnel_link: {
    hash: string;
    cluster_id: string;
    service: string;
    granted: string;
    created_at: string;
    expires_at: string;
  };
  cluster_command: CommandRow;
  cluster_command_note: {
    command_id: string;
    sequence: number;
    type: string;
    data: string;
    created_at: string;
  };
  cluster_deployment: DeploymentRow;
  cluster_idempotency: {
    cluster_id: string;
    key: string;
    request_sha256: string;
    command_id: string;
    created_at: string;
  };
  cluster_event: {
    cluster_id: string;
    sequence: number;
    message_id: string;
    event_type: string;
    namespace: string;
    resource: string;
    details: string;
    occurred_at: string;
    received_at: string;
  };
  cluster_heartbeat: {
    cluster_id: string;
    received_at: string;
    status: string;
    cpu_usage: number;
    memory_usage: number;
    active_pods: number;
  };
  cluster_heartbeat_average: {
    cluster_id: string;
    bucket: string;
    samples: number;
    cpu_usage: number;
    memory_usage: number;
    active_pods: number;
  };
}

export interface ClusterRow {
  id: string;
  workspace_uuid: string;
  name: string;
  created_at: string;
  created_by: string;
  connection_epoch: number;
  connected: number;
  replica_id: string | null;
  lease_until: string | null;
  instance_id: string | null;
  previous_instance_id: string | null;
  two_agents_at: string | null;
  protocol: string | null;
  connected_at: string | null;
  disconnected_at: string | null;
  last_seen_at: string | null;
  agent_version: string | null;
  kubernetes_version: string | null;
  capabilities: string | null;
  heartbeat_status: string | null;
  cpu_usage: number | null;
  memory_usage: number | null;
  active_pods: number | null;
  health: string | null;
  nodes: number | null;
  pods: number | null;
  services: number | null;
  status_at: string | null;
  limitations: string | null;
  clock_skew_seconds: number | null;
  event_sequence: number;
  outbox_id: string | null;
  outbox_sequence: number;
}

export interface CommandRow {
  id: string;
  cluster_id: string;
  kind: string;
  state: string;
  payload: string;
  created_by: string;
  created_at: string;
  timeout_ms: number;
  sent_at: string | null;
  sent_instance_id: string | null;
  sent_outbox_id: string | null;
  sent_count: number;
  acknowledged_at: string | null;
  cancel_requested_at: string | null;
  deadline_at: string;
  finished_at: string | null;
  result: string | null;
  error: string | null;
  output_bytes: number;
  note_sequence: number;
  progress_sequence: number;
  output_sequence: number;
}

export interface DeploymentRow {
  id: string;
  cluster_id: string;
  command_id: string;
  project_id: string;
  namespace: string;
  manifest_sha256: string;
  dry_run: number;
  created_at: string;
}

export type ClusterDatabase = Kysely<ClusterTables>;
