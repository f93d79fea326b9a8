/** The document `lifecycle` of a bucket. */
export interface LifecycleDocument {
  rules: readonly LifecycleRule[];
}

export interface LifecycleRule {
  id: string;
  enabled: boolean;
  filter: LifecycleFilter;
  /** The rule came with a prefix of its own, as the first API had it, and is shown so. */
  ownPrefix?: true;
  expiration: LifecycleExpiration | null;
  noncurrentVersionExpiration: { days: number; newerVersions: number | null } | null;
  abortIncompleteMultipartUpload: { days: number } | null;
}

/** All that is given must hold; nothing given: every object. */
export interface LifecycleFilter {
  prefix: string;
  tags: Readonly<Record<string, string>>;
  sizeGreaterThanBytes: number | null;
  sizeLessThanBytes: number | null;
}

export type LifecycleExpiration =
  | { days: number }
  /** ISO 8601, midnight in UTC. */
  | { date: string }
  /** Delete markers with nothing behind them. */
  | { expiredObjectDeleteMarker: true };

export function parseLifecycleDocument(document: string): LifecycleDocument {
  return JSON.parse(document) as LifecycleDocument; // checked before it was stored
}
