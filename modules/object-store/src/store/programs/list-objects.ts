import { afterPrefix, commonPrefixOf, compareKeys } from '../../domain/key-order.ts';
import type { ListObjects, ObjectPage } from '../../domain/ports/objects.ts';
import type { ObjectSummary } from '../../domain/ports/records.ts';
import { toAttributes, toChecksum } from '../object-row.ts';
import { all, type Program, type Row } from '../program.ts';
import { integer, text, textOrNull } from '../row.ts';
import { positionBehind, scanPage } from './skip-scan.ts';

/** Rows of the first read if keys may be grouped into common prefixes. */
const FIRST_BATCH = 32;

interface Position {
  key: string;
  inclusive: boolean;
}

const at = (key: string): Position => ({ key, inclusive: true });

/** Lists one page with `scanPage`. */
export function* listObjects(input: ListObjects): Program<ObjectPage> {
  const { prefix, delimiter, limit } = input;
  const end = afterPrefix(prefix);
  const { entries, commonPrefixes, truncated, endsIn } = yield* scanPage<Position, ObjectSummary>({
    prefix,
    delimiter,
    limit,
    start: startOf(input),
    firstBatch: delimiter === '' ? limit + 1 : Math.min(limit + 1, FIRST_BATCH),
    read: (from, most) => readRows(input, from, end, most),
    toEntry: input.detailed === true ? toDetailed : toSummary,
    at,
    behind: (row) => ({ key: text(row, 'key'), inclusive: false }),
  });
  const next = truncated ? (endsIn ?? entries.at(-1)?.key ?? null) : null;
  return { objects: entries, commonPrefixes, truncated, next };
}

/** After a common prefix, continues behind all of its keys, even if `after` is one of them. */
function startOf({ prefix, delimiter, after }: ListObjects): Position | null {
  if (after === '' || compareKeys(after, prefix) < 0) return at(prefix);
  const common = after.startsWith(prefix) ? commonPrefixOf(after, prefix, delimiter) : null;
  return common === null ? { key: after, inclusive: false } : positionBehind({ at }, common);
}

function* readRows(input: ListObjects, from: Position, end: string | null, limit: number): Program<readonly Row[]> {
  // A bucket without versions has only visible rows, in table order.
  const source = input.versioned ? 'object {index object_listed}' : 'object';
  const more = input.detailed === true ? ', version_id, attributes' : '';
  const select = `select key, size_bytes, etag, modified_at_ms, checksum${more} from ${source}
    where bucket_id = ? and is_latest = 1 and delete_marker = 0 and key ${from.inclusive ? '>=' : '>'} ?`;
  if (end === null) return yield* all(`${select} order by key limit ?`, input.bucketId, from.key, limit);
  return yield* all(`${select} and key < ? order by key limit ?`, input.bucketId, from.key, end, limit);
}

function toDetailed(key: string, row: Row): ObjectSummary {
  const { contentType, accessControlList, metadata } = toAttributes(text(row, 'attributes'));
  const details = {
    versionId: text(row, 'version_id'),
    contentType,
    ...(metadata === undefined ? {} : { metadata }),
  };
  return {
    ...toSummary(key, row),
    details: accessControlList === undefined ? details : { ...details, accessControlList },
  };
}

export function toSummary(key: string, row: Row): ObjectSummary {
  return {
    key,
    sizeBytes: integer(row, 'size_bytes'),
    etag: text(row, 'etag'),
    modifiedAtMs: integer(row, 'modified_at_ms'),
    checksum: toChecksum(textOrNull(row, 'checksum')),
  };
}
