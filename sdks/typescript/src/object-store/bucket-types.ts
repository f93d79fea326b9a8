import type { ObjectStoreOperations } from '../generated/api.ts';

/** Shapes of store, buckets and their settings, with the names of the wire. All times are ISO 8601, UTC, with milliseconds. */

export interface StoreStatus {
  enabled: boolean;
  /** The workspace's uuid. */
  tenant_id: string;
  /** Base URL of the S3 data plane. */
  s3_endpoint: string;
  region: string;
  /** False until the first bucket is made; keys and domains are refused before. */
  provisioned: boolean;
  limits: Readonly<Record<string, number>>;
  usage: { buckets: number; object_count: number; size_bytes: number };
}

export type VersioningStatus = 'unversioned' | 'enabled' | 'suspended';
export type EncryptionMode = 'none' | 'sse-s3';

export interface Bucket {
  name: string;
  created_at: string;
  region: string;
  location_hint: string | null;
  encryption_mode: EncryptionMode;
  versioning: VersioningStatus;
  /** True when everybody may read what is in it. */
  publicDefault: boolean;
  object_count: number;
  size_bytes: number;
  soft_delete: { enabled: boolean; retention_days: number };
  custom_domains: string[];
  state: string;
}

export type NewBucket = ObjectStoreOperations['POST /buckets']['body'];

/** Answer of a deletion, and an entry of the deleted ones; the times are null when nothing can be restored. */
export interface DeletedBucket {
  name: string;
  state: string;
  created_at?: string;
  deleted_at: string | null;
  purge_at: string | null;
  restorable?: boolean;
}

export interface CorsRule {
  id?: string;
  allowed_origins: string[];
  allowed_methods: string[];
  allowed_headers?: string[];
  expose_headers?: string[];
  max_age_seconds?: number | null;
}

export interface BucketWebsite {
  /** The name of the page below each folder, such as `index.html`. */
  index: string;
  /** The key of the page for what is not there. */
  error?: string | null;
}

export interface BucketNotifications {
  enabled?: boolean;
  /** Receives the events by POST. */
  webhook: string;
  /** Such as `s3:ObjectCreated:*`. */
  events: string[];
  prefix?: string;
  suffix?: string;
}

export interface BucketSettings {
  publicDefault: boolean;
  /** `Cache-Control` of public objects that have none of their own. */
  cacheControl: string | null;
  cors_rules: CorsRule[];
  soft_delete: { enabled: boolean; retention_days: number };
  max_object_size: number | null;
  allowed_content_types: string[] | null;
  quota: { max_bytes: number | null; max_objects: number | null };
  website: BucketWebsite | null;
  notifications: BucketNotifications | null;
}

/** Absent fields stay as they are; null puts the default back. */
export type BucketSettingsChange = { [Name in keyof BucketSettings]?: BucketSettings[Name] | null };

export interface BucketLocation {
  location: string;
  region: string;
  location_hint: string | null;
  provider: string;
}

export interface LifecycleRule {
  id?: string;
  enabled?: boolean;
  filter?: {
    prefix?: string;
    tags?: Readonly<Record<string, string>>;
    size_greater_than?: number | null;
    size_less_than?: number | null;
  } | null;
  expiration?: { days?: number; date?: string; expired_object_delete_marker?: boolean } | null;
  noncurrent_version_expiration?: { days: number; newer_versions?: number | null } | null;
  abort_incomplete_multipart_upload?: { days: number } | null;
}

export interface Lifecycle {
  rules: LifecycleRule[];
}

/** The same in the JSON of `aws s3api put-bucket-lifecycle-configuration`. */
export interface AwsLifecycle {
  Rules: readonly Readonly<Record<string, unknown>>[];
}

export interface BucketUrls {
  bucket: string;
  public: boolean;
  virtual_host: string;
  path_style: string;
  management_public: string;
  custom_domains: string[];
}
