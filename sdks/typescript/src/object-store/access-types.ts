/** Shapes of access keys and custom domains, with the names of the wire. */

export type KeyPermission = 'read' | 'write' | 'admin';

export interface AccessKey {
  accessKeyId: string;
  label: string;
  permissions: KeyPermission[];
  /** `['*']` means all. */
  buckets: string[];
  role: string;
  created_at: string;
  created_by: string | null;
  /** Null: it never expires. */
  expires_at: string | null;
  last_used_at: string | null;
}

export interface NewAccessKey {
  /** Default `dashboard`. */
  label?: string | undefined;
  /** Default read and write. */
  permissions?: readonly KeyPermission[] | undefined;
  /** None or absent means all. */
  buckets?: readonly string[] | undefined;
  expires_at?: string | null | undefined;
}

/** The one answer that carries the secret. */
export interface CreatedAccessKey {
  accessKeyId: string;
  secretAccessKey: string;
  s3_endpoint: string;
  region: string;
  tenant_id: string;
  key: {
    accessKeyId: string;
    secretAccessKey: string;
    permissions: KeyPermission[];
    buckets: string[];
    label: string;
    expires_at?: string | null;
  };
}

export type DomainStatus = 'pending' | 'verifying' | 'active' | 'error' | 'blocked';

export interface CustomDomain {
  hostname: string;
  bucket: string;
  /** What the CNAME of the hostname must point to. */
  cname_target: string;
  /** One sentence for whoever sets up the DNS. */
  dns_hint: string;
  url: string;
  status: DomainStatus;
  ssl?: Readonly<Record<string, unknown>> | string | null;
  dns?: { status: string; observed?: unknown } | null;
  created_at?: string;
  verified_at?: string | null;
  last_checked_at?: string | null;
  error?: { code?: string; message?: string } | string | null;
}
