import { CHECKSUM_ALGORITHMS, type ChecksumAlgorithm, type ChecksumType } from '../domain/checksums/algorithms.ts';
import { storedMediaType } from '../domain/content/media-type.ts';
import type { ContentLocation, ObjectAttributes, ObjectChecksum, ObjectVersion } from '../domain/ports/records.ts';
import type { Row } from './program.ts';
import { flag, integer, integerOrNull, text, textOrNull } from './row.ts';

export const OBJECT_COLUMNS = `o.bucket_id, o.key, o.order_key, o.version_id, o.is_latest, o.delete_marker,
  o.size_bytes, o.etag, o.modified_at_ms, o.attributes, o.checksum, o.part_count, o.inline_id, o.blob_id, o.manifest_id`;

export function toObjectVersion(row: Row): ObjectVersion {
  return {
    bucketId: integer(row, 'bucket_id'),
    key: text(row, 'key'),
    versionId: text(row, 'version_id'),
    isLatest: flag(row, 'is_latest'),
    deleteMarker: flag(row, 'delete_marker'),
    sizeBytes: integer(row, 'size_bytes'),
    etag: text(row, 'etag'),
    modifiedAtMs: integer(row, 'modified_at_ms'),
    attributes: toAttributes(text(row, 'attributes')),
    checksum: toChecksum(textOrNull(row, 'checksum')),
    partCount: integerOrNull(row, 'part_count'),
    location: toLocation(row),
  };
}

export function toAttributes(json: string): ObjectAttributes {
  const stored = JSON.parse(json) as ObjectAttributes; // written by the store from this type
  // Rows from before content types were validated may hold any text.
  return { ...stored, contentType: storedMediaType(stored.contentType) };
}

export function fromChecksum(checksum: ObjectChecksum | null): string | null {
  return checksum === null ? null : `${checksum.algorithm}:${checksum.type}:${checksum.value}`;
}

export function toChecksum(stored: string | null): ObjectChecksum | null {
  if (stored === null) return null;
  const [algorithm, type, value] = stored.split(':');
  const known = toAlgorithm(algorithm ?? null);
  if (known === null || value === undefined) throw new Error('a stored checksum is malformed');
  return { algorithm: known, type: type === 'COMPOSITE' ? 'COMPOSITE' : 'FULL_OBJECT', value };
}

export function toAlgorithm(stored: string | null): ChecksumAlgorithm | null {
  return CHECKSUM_ALGORITHMS.find((algorithm) => algorithm === stored) ?? null;
}

export function toChecksumType(stored: string | null): ChecksumType | null {
  return stored === 'COMPOSITE' || stored === 'FULL_OBJECT' ? stored : null;
}

function toLocation(row: Row): ContentLocation {
  const inlineId = integerOrNull(row, 'inline_id');
  if (inlineId !== null) return { kind: 'inline', inlineId };
  const blobId = textOrNull(row, 'blob_id');
  if (blobId !== null) return { kind: 'blob', blobId };
  const manifestId = textOrNull(row, 'manifest_id');
  if (manifestId !== null) return { kind: 'manifest', manifestId };
  return { kind: 'empty' };
}
