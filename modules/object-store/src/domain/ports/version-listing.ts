import type { ObjectSummary } from './records.ts';

/** A page of all versions of all keys, newest first within a key. */
export interface ListObjectVersions {
  bucketId: number;
  prefix: string;
  /** Empty: none. */
  delimiter: string;
  /** Only what stands behind this key, or behind this common prefix. Empty: from the start. */
  afterKey: string;
  /** Goes on within `afterKey`, behind this version. Empty: behind all versions of it. */
  afterVersionId: string;
  limit: number;
}

export interface VersionSummary extends ObjectSummary {
  versionId: string;
  isLatest: boolean;
  deleteMarker: boolean;
}

export interface VersionPage {
  versions: readonly VersionSummary[];
  commonPrefixes: readonly string[];
  truncated: boolean;
  /** The last key or common prefix of the page; null on the last page. */
  nextKey: string | null;
  /** Null also behind a common prefix. */
  nextVersionId: string | null;
}

export interface VersionQueries {
  /** Bounded work however many versions a key has or keys a common prefix hides. */
  listObjectVersions(input: ListObjectVersions): Promise<VersionPage>;
}
