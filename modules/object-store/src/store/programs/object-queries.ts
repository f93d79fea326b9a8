import type { MetadataQueries } from '../../domain/ports/metadata-store.ts';
import type { FoundObject } from '../../domain/ports/objects.ts';
import type { ManifestPart, PartRecord } from '../../domain/ports/records.ts';
import { OBJECT_COLUMNS, toChecksum, toObjectVersion } from '../object-row.ts';
import { all, first, type Program, type Row } from '../program.ts';
import { bytesOrNull, flag, integer, text, textOrNull } from '../row.ts';
import { NULL_VERSION } from '../../domain/version-id.ts';
import { parseOrderKey } from '../version-order.ts';

type Input<Name extends keyof MetadataQueries> = Parameters<MetadataQueries[Name]>[0];

// Reads an inline object's bytes with its row in one statement: a replacement between two would lose them.
const FOUND = `select ${OBJECT_COLUMNS}, i.data from object o left join inline_content i on i.id = o.inline_id
  where o.bucket_id = ? and o.key = ?`;

export function* findObject(input: Input<'findObject'>): Program<FoundObject | null> {
  const row = yield* findRow(input);
  return row === undefined ? null : { version: toObjectVersion(row), inline: bytesOrNull(row, 'data') };
}

function* findRow({ bucketId, key, versionId }: Input<'findObject'>): Program<Row | undefined> {
  if (versionId === undefined) return yield* first(`${FOUND} order by o.order_key limit 1`, bucketId, key);
  if (versionId === NULL_VERSION) return yield* first(`${FOUND} and o.version_id = ?`, bucketId, key, versionId);
  const orderKey = parseOrderKey(versionId);
  if (orderKey === null) return undefined;
  return yield* first(`${FOUND} and o.order_key = ? and o.version_id = ?`, bucketId, key, orderKey, versionId);
}

export function* manifestParts(input: Input<'manifestParts'>): Program<readonly ManifestPart[]> {
  const rows = yield* all(
    `select part_number, blob_id, blob_offset, size_bytes, start_offset from part
     where upload_id = ? and start_offset < ? and start_offset + size_bytes > ? order by part_number limit ?`,
    input.manifestId,
    input.endExclusive,
    input.start,
    input.limit,
  );
  return rows.map((row) => toManifestPart(row));
}

export function* findManifestPart(input: Input<'findManifestPart'>): Program<(ManifestPart & PartRecord) | null> {
  const row = yield* first(
    `select part_number, blob_id, blob_offset, size_bytes, start_offset, etag, checksum, modified_at_ms from part
     where upload_id = ? and part_number = ?`,
    input.manifestId,
    input.partNumber,
  );
  return row === undefined ? null : { ...toManifestPart(row), ...toPart(row) };
}

export function* manifestBlobs(
  input: Input<'manifestBlobs'>,
): Program<readonly { partNumber: number; blobId: string; shared: boolean }[]> {
  const rows = yield* all(
    `select p.part_number, p.blob_id, case when exists (select 1 from object o where o.blob_id = p.blob_id)
         or exists (select 1 from part other where other.blob_id = p.blob_id and other.upload_id <> p.upload_id
           and not exists (select 1 from trash t where t.content_id = other.upload_id)) then 1 else 0 end as shared
     from part p where p.upload_id = ? order by p.part_number limit ?`,
    input.manifestId,
    input.limit,
  );
  return rows.map((row) => ({
    partNumber: integer(row, 'part_number'),
    blobId: text(row, 'blob_id'),
    shared: flag(row, 'shared'),
  }));
}

export function toPart(row: Row): PartRecord {
  return {
    partNumber: integer(row, 'part_number'),
    sizeBytes: integer(row, 'size_bytes'),
    etag: text(row, 'etag'),
    modifiedAtMs: integer(row, 'modified_at_ms'),
    checksum: toChecksum(textOrNull(row, 'checksum')),
  };
}

function toManifestPart(row: Row): ManifestPart {
  return {
    partNumber: integer(row, 'part_number'),
    blobId: text(row, 'blob_id'),
    blobOffset: integer(row, 'blob_offset'),
    sizeBytes: integer(row, 'size_bytes'),
    startOffset: integer(row, 'start_offset'),
  };
}
