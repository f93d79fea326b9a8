import { storeErrors } from '../../errors.ts';
import type { BlobRecord } from '../../domain/ports/blobs.ts';
import type { MetadataCommands, MetadataQueries } from '../../domain/ports/metadata-store.ts';
import { all, change, first, send, type Program, type Row } from '../program.ts';
import { integer, text, textOrNull } from '../row.ts';

type Command<Name extends keyof MetadataCommands> = Parameters<MetadataCommands[Name]>[0];
type Query<Name extends keyof MetadataQueries> = Parameters<MetadataQueries[Name]>[0];

/** The state of a blob that no row may refer to any more. Its record stays: its writer may be late by any time. */
const CONDEMNED = 'condemned';
/** Later than anything that is due. */
const NEVER_MS = Number.MAX_SAFE_INTEGER;

export interface StoredBlob {
  blobId: string;
  crc64nvme?: string;
}

/**
 * Records a blob with its first row. For a copy, the record already exists. Throws `ServiceUnavailable` if the blob is
 * condemned: its bytes are gone.
 */
export function* recordBlob(blob: StoredBlob, sizeBytes: number, nowMs: number): Program<void> {
  const recorded = yield* change(
    `insert into blob (blob_id, size_bytes, crc64nvme, state, verified_at_ms) values (?, ?, ?, 'good', ?)
     on conflict do nothing returning blob_id`,
    blob.blobId,
    sizeBytes,
    blob.crc64nvme ?? null,
    // Just written and synced. The next scrub reads blobs that came without a checksum.
    blob.crc64nvme === undefined ? 0 : nowMs,
  );
  if (recorded.length > 0) return;
  const known = yield* first('select state from blob where blob_id = ?', blob.blobId);
  if (known !== undefined && text(known, 'state') === CONDEMNED) throw storeErrors.ServiceUnavailable();
}

export function* isBlobKnown({ blobId }: Query<'isBlobKnown'>): Program<boolean> {
  const row = yield* first(
    `select 1 as found from object where blob_id = ?
     union all select 1 from part where blob_id = ?
     union all select 1 from trash where content_id = ? limit 1`,
    blobId,
    blobId,
    blobId,
  );
  return row !== undefined;
}

export function* condemnBlob({ blobId }: Command<'condemnBlob'>): Program<boolean> {
  // First: a write under way has inserted the same record, so this waits for its end, and every later write for this.
  yield* change(
    `insert into blob (blob_id, size_bytes, state, verified_at_ms) values (?, 0, '${CONDEMNED}', ?)
     on conflict do nothing`,
    blobId,
    NEVER_MS,
  );
  if (yield* isBlobKnown({ blobId })) {
    yield* send(`delete from blob where blob_id = ? and state = '${CONDEMNED}'`, blobId);
    return false;
  }
  yield* send(`update blob set state = '${CONDEMNED}', verified_at_ms = ? where blob_id = ?`, NEVER_MS, blobId);
  return true;
}

export function* forgetBlob(blobId: string): Program<void> {
  yield* send('delete from blob where blob_id = ?', blobId);
}

export function* blobsToVerify({ beforeMs, limit }: Query<'blobsToVerify'>): Program<readonly BlobRecord[]> {
  const rows = yield* all(
    `select blob_id, size_bytes, crc64nvme, state, verified_at_ms from blob where verified_at_ms < ?
     order by verified_at_ms, blob_id limit ?`,
    beforeMs,
    limit,
  );
  return rows.map(toBlobRecord);
}

export function* blobsNotGood({ after, limit }: Query<'blobsNotGood'>): Program<readonly BlobRecord[]> {
  const rows = yield* all(
    `select blob_id, size_bytes, crc64nvme, state, verified_at_ms from blob where state <> 'good' and state <> '${CONDEMNED}' and blob_id > ?
     order by blob_id limit ?`,
    after,
    limit,
  );
  return rows.map(toBlobRecord);
}

export function* findBlob({ blobId }: Query<'findBlob'>): Program<BlobRecord | null> {
  const row = yield* first(
    `select blob_id, size_bytes, crc64nvme, state, verified_at_ms from blob
     where blob_id = ? and state <> '${CONDEMNED}'`,
    blobId,
  );
  return row === undefined ? null : toBlobRecord(row);
}

export function* objectsOfBlob({
  blobId,
  limit,
}: Query<'objectsOfBlob'>): Program<readonly { bucket: string; key: string; versionId: string }[]> {
  const rows = yield* all(
    `select b.name, o.key, o.version_id from object o join bucket b on b.id = o.bucket_id where o.blob_id = ?
     union
     select b.name, o.key, o.version_id from part p join object o on o.manifest_id = p.upload_id
       join bucket b on b.id = o.bucket_id where p.blob_id = ? limit ?`,
    blobId,
    blobId,
    limit,
  );
  return rows.map((row) => ({
    bucket: text(row, 'name'),
    key: text(row, 'key'),
    versionId: text(row, 'version_id'),
  }));
}

export function* noteVerified({ blobs, nowMs }: Command<'noteVerified'>): Program<void> {
  for (const { blobId, state, crc64nvme } of blobs) {
    yield* change(
      'update blob set verified_at_ms = ?, state = ?, crc64nvme = coalesce(crc64nvme, ?) where blob_id = ?',
      nowMs,
      state,
      crc64nvme,
      blobId,
    );
  }
}

export function* holdTrash({ holder, untilMs }: Command<'holdTrash'>): Program<void> {
  yield* change(
    `insert into trash_hold (holder, until_ms) values (?, ?)
     on conflict (holder) do update set until_ms = excluded.until_ms`,
    holder,
    untilMs,
  );
}

export function* releaseTrash({ holder }: Command<'releaseTrash'>): Program<void> {
  yield* change('delete from trash_hold where holder = ?', holder);
}

export function* isTrashHeld({ nowMs }: Query<'isTrashHeld'>): Program<boolean> {
  return (yield* first('select 1 as found from trash_hold where until_ms > ? limit 1', nowMs)) !== undefined;
}

export function* storeProperty({ name }: Query<'storeProperty'>): Program<string | null> {
  const row = yield* first('select value from store_property where name = ?', name);
  return row === undefined ? null : text(row, 'value');
}

export function* setStoreProperty({ name, value }: Command<'setStoreProperty'>): Program<void> {
  yield* change(
    'insert into store_property (name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
    name,
    value,
  );
}

export function* claimStoreProperty({ name, value }: Command<'claimStoreProperty'>): Program<string> {
  yield* change('insert into store_property (name, value) values (?, ?) on conflict (name) do nothing', name, value);
  return (yield* storeProperty({ name })) ?? value;
}

function toBlobRecord(row: Row): BlobRecord {
  const state = text(row, 'state');
  return {
    blobId: text(row, 'blob_id'),
    sizeBytes: integer(row, 'size_bytes'),
    crc64nvme: textOrNull(row, 'crc64nvme'),
    state: state === 'damaged' || state === 'missing' ? state : 'good',
    verifiedAtMs: integer(row, 'verified_at_ms'),
  };
}
