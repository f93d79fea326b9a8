import type { WriteConditions } from './records.ts';
import type { StoredVersion } from './records.ts';
import type { WriteQuota } from './records.ts';
import type { NotifyRule } from './notifications.ts';
import type { ObjectAttributes, ObjectChecksum } from './records.ts';

/** The version that was read. A copy shares its bytes only if it has not changed. */
export interface SourceVersion {
  bucketId: number;
  key: string;
  versionId: string;
  etag: string;
  sizeBytes: number;
  modifiedAtMs: number;
}

/** Input of `copyObject`. */
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

/** Copies that share the bytes of their source. */
export interface CopyCommands {
  /**
   * Creates a version that shares the bytes of another one: a blob or manifest gets one more row that needs it; inline
   * bytes are copied. Throws `OperationAborted` if the source has changed.
   */
  copyObject(input: CopyObject): Promise<StoredVersion>;
}
