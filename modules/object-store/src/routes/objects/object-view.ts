import { isPublicRead } from '../../domain/access/object-acl.ts';
import type { StoredVersion } from '../../domain/ports/records.ts';
import type { BucketRecord, ObjectSummary } from '../../domain/ports/records.ts';
import { toTimestamp } from '../envelope.ts';
import type { ObjectView, StoredView } from './object-schemas.ts';

const NULL_VERSION = 'null';

export function toObjectView(object: ObjectSummary, bucket: BucketRecord): ObjectView {
  const { details } = object;
  return {
    key: object.key,
    size: object.sizeBytes,
    etag: object.etag,
    last_modified: toTimestamp(object.modifiedAtMs),
    content_type: details?.contentType ?? '',
    storage_class: 'STANDARD',
    version_id: versionIdOf(bucket, details?.versionId ?? NULL_VERSION),
    public: isPublicRead(details?.accessControlList),
  };
}

export interface StoredObject {
  bucket: BucketRecord;
  key: string;
  contentType: string;
  stored: StoredVersion;
  /** URL of the object once it is public. */
  url: string;
}

export function toStoredView({ bucket, key, contentType, stored, url }: StoredObject): StoredView {
  const { checksum } = stored;
  return {
    key,
    size: stored.sizeBytes,
    etag: stored.etag,
    version_id: versionIdOf(bucket, stored.versionId),
    checksum_crc64nvme: checksum?.algorithm === 'CRC64NVME' ? checksum.value : null,
    content_type: contentType,
    last_modified: toTimestamp(stored.modifiedAtMs),
    url,
  };
}

/** The version id, or null in a bucket that never had versioning enabled. */
export function versionIdOf(bucket: BucketRecord, versionId: string): string | null {
  return bucket.versioning === 'unversioned' ? null : versionId;
}
