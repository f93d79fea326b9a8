import type { UniqueKey } from '@svc/sql';

/** `taken_name` is the name while the sandbox exists, null after its removal. */
export const SANDBOX_NAME: UniqueKey = {
  constraint: 'sandbox_workspace_name',
  table: 'sandbox',
  columns: ['workspace_uuid', 'taken_name'],
};

/**
 * Rows as defined by migrations 0020, 0055 to 0059, 0071, 0081 and 0087. Times are ISO 8601 UTC, objects are JSON
 * text, booleans are 0 or 1.
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
  sandbox_terminal: { id: string; workspace_uuid: string; node: string };
  sandbox_event_counter: { workspace_uuid: string; last_sequence: number };
  sandbox_event: {
    workspace_uuid: string;
    sequence: number;
    sandbox_id: string;
    type: string;
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
  network: string;
  egress_allow: string | null;
  isolation: string;
  idle_timeout_seconds: number | null;
  expires_at: string | null;
  created_at: string;
  started_at: string | null;
  last_activity_at: string;
  removed_at: string | null;
  paused_at: string | null;
  snapshot_id: string | null;
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
}
