import type { StoredVersion, WriteConditions } from './metadata-store.ts';
import type { WriteQuota } from './records.ts';
import type { NotifyRule } from './notifications.ts';
import type { ObjectAttributes, ObjectChecksum } from './records.ts';

/** The version that was read; a copy shares its bytes only while it is still the same. */
export interface SourceVersion {
  bucketId: number;
  key: string;
  versionId: string;
  etag: string;
  sizeBytes: number;
  modifiedAtMs: number;
}

export interface CopyObject {
  source: SourceVersion;
  bucketId: number;
  key: string;
  nowMs: number;
  versionToken: string;
  attributes: ObjectAttributes;
  checksum: ObjectChecksum | null;
  conditions: WriteConditions;
  trashDueAtMs: number;
  quota?: WriteQuota;
  notify?: NotifyRule;
}

export interface CopyCommands {
  /**
   * A new version with the bytes of another: a blob or manifest gets one more row that needs it, inline bytes are copied
   * from row to row. `OperationAborted` when the source is not any more what it was.
   */
  copyObject(input: CopyObject): Promise<StoredVersion>;
}
