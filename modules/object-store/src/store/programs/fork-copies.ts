import { toAttributes } from '../object-row.ts';
import { all, first, lock, send, type Program, type SqlValue } from '../program.ts';
import { integer, text } from '../row.ts';
import { copyObjectRow, lockClosedKeys, noteClosedKey } from './fork-rows.ts';
import { newestVersion } from './version-rows.ts';

/** Keys of a source after one and up to another. */
interface KeyRange {
  bucketId: number;
  sourceId: number;
  after: string;
  through: string;
}

/** Current objects of the range, without those that a change has copied already. */
const PENDING = `o.bucket_id = ? and o.key > ? and o.key <= ? and o.is_latest = 1 and o.delete_marker = 0
  and not exists (select 1 from bucket_fork_key k where k.bucket_id = ? and k.key = o.key)`;
/** Rows without ACL or locks, which are copied as they are. */
const PLAIN = `(o.locked_until_ms is null and o.attributes not like '%"accessControlList"%')`;

/** Copies the current objects of the range. The caller has locked both buckets. */
export function* copyKeys(range: KeyRange): Program<void> {
  const closedBelow = yield* lockClosedKeys();
  yield* copyPlain(range);
  const others = yield* all(`select o.key from object o where ${PENDING} and not ${PLAIN}`, ...pending(range));
  for (const row of others) {
    const newest = yield* newestVersion(range.sourceId, text(row, 'key'));
    if (newest !== null) yield* copyObjectRow(range.bucketId, newest, closedBelow);
  }
  if (closedBelow !== null) yield* noteClosedKeys(range, closedBelow);
}

/** In two statements, however many rows there are. Copies of inline bytes have ids below all others. */
function* copyPlain(range: KeyRange): Program<void> {
  yield* lock('inline-copies');
  const row = yield* first('select coalesce(min(id), 0) as lowest from inline_content');
  const lowest = row === undefined ? 0 : Math.min(0, integer(row, 'lowest'));
  yield* send(
    `insert into inline_content (id, data)
     select cast(? as bigint) - copied.place, i.data from (
       select o.inline_id, row_number() over (order by o.key) as place from object o
       where ${PENDING} and ${PLAIN} and o.inline_id is not null) as copied
     join inline_content i on i.id = copied.inline_id`,
    lowest,
    ...pending(range),
  );
  yield* send(
    `insert into object (bucket_id, key, order_key, version_id, is_latest, delete_marker, size_bytes, etag,
       modified_at_ms, attributes, checksum, part_count, inline_id, blob_id, manifest_id)
     select cast(? as bigint), o.key, o.order_key, o.version_id, 1, 0, o.size_bytes, o.etag, o.modified_at_ms,
       o.attributes, o.checksum, o.part_count,
       case when o.inline_id is null then null else cast(? as bigint) - row_number() over (
         partition by case when o.inline_id is null then 0 else 1 end order by o.key) end,
       o.blob_id, o.manifest_id
     from object o where ${PENDING} and ${PLAIN}`,
    range.bucketId,
    lowest,
    ...pending(range),
  );
}

function* noteClosedKeys({ bucketId, after, through }: KeyRange, closedBelow: number): Program<void> {
  const rows = yield* all(
    `select attributes from object
     where bucket_id = ? and key > ? and key <= ? and attributes like '%"encryption"%'`,
    bucketId,
    after,
    through,
  );
  for (const row of rows) yield* noteClosedKey(toAttributes(text(row, 'attributes')), closedBelow);
}

function pending({ bucketId, sourceId, after, through }: KeyRange): SqlValue[] {
  return [sourceId, after, through, bucketId];
}
