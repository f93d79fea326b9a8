/** The document `lifecycle` of a bucket. */
export interface LifecycleDocument {
  rules: readonly LifecycleRule[];
}

export interface LifecycleRule {
  id: string;
  enabled: boolean;
  filter: LifecycleFilter;
  /** The rule uses the `Prefix` element of the first API version, and is returned in that form. */
  ownPrefix?: true;
  expiration: LifecycleExpiration | null;
  noncurrentVersionExpiration: { days: number; newerVersions: number | null } | null;
  abortIncompleteMultipartUpload: { days: number } | null;
}

/** All given conditions must match. An empty filter matches every object. */
export interface LifecycleFilter {
  prefix: string;
  tags: Readonly<Record<string, string>>;
  sizeGreaterThanBytes: number | null;
  sizeLessThanBytes: number | null;
}

export type LifecycleExpiration =
  | { days: number }
  /** ISO 8601, midnight UTC. */
  | { date: string }
  /** Delete markers without other versions. */
  | { expiredObjectDeleteMarker: true };

export function parseLifecycleDocument(document: string): LifecycleDocument {
  return JSON.parse(document) as LifecycleDocument; // validated before it was stored
}
