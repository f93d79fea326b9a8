import type { ObjectSummary } from './records.ts';

/** A page of all versions of all keys, newest first per key. */
export interface ListObjectVersions {
  bucketId: number;
  prefix: string;
  /** Empty for none. */
  delimiter: string;
  /** Starts after this key or common prefix. Empty to start at the beginning. */
  afterKey: string;
  /** Continues within `afterKey`, after this version. Empty to start after all of its versions. */
  afterVersionId: string;
  limit: number;
}

/** An entry of a version listing. */
export interface VersionSummary extends ObjectSummary {
  versionId: string;
  isLatest: boolean;
  deleteMarker: boolean;
}

/** A page of a version listing. */
export interface VersionPage {
  versions: readonly VersionSummary[];
  commonPrefixes: readonly string[];
  truncated: boolean;
  /** Last key or common prefix of the page. Null on the last page. */
  nextKey: string | null;
  /** Also null after a common prefix. */
  nextVersionId: string | null;
}

/** Queries of versions. */
export interface VersionQueries {
  /** Bounded work, however many versions a key has or keys a common prefix hides. */
  listObjectVersions(input: ListObjectVersions): Promise<VersionPage>;
}
