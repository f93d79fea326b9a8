/** Rows as defined by migrations 0100, 0101, 0111, 0130 and 0142. Times are ISO 8601 UTC, by the database's clock. */
export interface ReplicaTables {
  replica: {
    id: string;
    boot_id: string;
    place: string | null;
    url: string | null;
    version: string;
    started_at: string;
    seen_at: string;
    expires_at: string;
    newest_migration: string | null;
    host: string | null;
  };
  installation: {
    /** Always 1: there is one row. */
    number: number;
    id: string;
    master_key_id: string | null;
    created_at: string;
  };
  sealed_secret: {
    name: string;
    version: number;
    wrapper: string;
    box: string;
    updated_at: string;
  };
}
