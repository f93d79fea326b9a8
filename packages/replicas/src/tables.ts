/** Rows as defined by migrations 0100 and 0101. Times are ISO 8601 UTC, by the database's clock. */
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
  };
  installation: {
    /** Always 1: there is one row. */
    number: number;
    id: string;
    master_key_id: string | null;
    created_at: string;
  };
}
