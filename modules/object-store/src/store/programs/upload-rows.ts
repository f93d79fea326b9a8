import type { UploadRecord } from '../../domain/ports/records.ts';
import { toAlgorithm, toAttributes, toChecksumType } from '../object-row.ts';
import type { Row } from '../program.ts';
import { integer, text, textOrNull } from '../row.ts';

export function toUpload(row: Row): UploadRecord {
  return {
    uploadId: text(row, 'upload_id'),
    bucketId: integer(row, 'bucket_id'),
    key: text(row, 'key'),
    initiatedAtMs: integer(row, 'initiated_at_ms'),
    initiator: text(row, 'initiator'),
    attributes: toAttributes(text(row, 'attributes')),
    checksumAlgorithm: toAlgorithm(textOrNull(row, 'checksum_algorithm')),
    checksumType: toChecksumType(textOrNull(row, 'checksum_type')),
  };
}
