import { storeErrors } from '../../errors.ts';
import {
  COPIED_CLOSED_KEY,
  parseStoreKey,
  type KeyRingCommands,
  type KeyRingQueries,
  type RowKey,
  type SealedKind,
  type SealedRow,
  type StoreKey,
} from '../../domain/ports/key-ring.ts';
import { all, change, first, lock, type Program, type SqlValue } from '../program.ts';
import { flag, integer, text } from '../row.ts';

type Command<Name extends keyof KeyRingCommands> = Parameters<KeyRingCommands[Name]>[0];
type Query<Name extends keyof KeyRingQueries> = Parameters<KeyRingQueries[Name]>[0];

interface SealedTable {
  table: string;
  key: readonly string[];
  body: string;
  /** Selects the rows of this kind, if the table has others. */
  only?: string;
}

const TABLES: Readonly<Record<SealedKind, SealedTable>> = {
  object: { table: 'object', key: ['bucket_id', 'key', 'order_key'], body: 'attributes' },
  upload: { table: 'upload', key: ['upload_id'], body: 'attributes' },
  'access-key': { table: 'access_key', key: ['access_key_id'], body: 'sealed_secret' },
  certificate: { table: 'domain_certificate', key: ['hostname'], body: 'sealed_key' },
  'acme-account': { table: 'acme_account', key: ['directory_url'], body: 'sealed_key' },
  notification: { table: 'bucket_document', key: ['bucket_id'], body: 'document', only: `name = 'notification'` },
};

/** Held from the check of closed keys until the commit of what they seal, and while they are removed. */
export const STORE_KEYS_LOCK = 'store-keys';

/** The lowest key id that can still seal, as a column to read along with other data. */
export const OPEN_FROM = `(select coalesce(min(k.id), 0) from store_key k where k.closed = 0) as open_from`;

export function* storeKeys(_input: Query<'storeKeys'>): Program<readonly StoreKey[]> {
  const rows = yield* all('select id, wrapper, wrapped, created_at_ms, closed from store_key order by id');
  return rows.map((row) => ({
    id: integer(row, 'id'),
    wrapper: text(row, 'wrapper'),
    wrapped: text(row, 'wrapped'),
    createdAtMs: integer(row, 'created_at_ms'),
    closed: flag(row, 'closed'),
  }));
}

export function* addStoreKey(input: Command<'addStoreKey'>): Program<boolean> {
  const rows = yield* change(
    `insert into store_key (id, wrapper, wrapped, created_at_ms, closed) values (?, ?, ?, ?, 0)
     on conflict (id) do nothing returning id`,
    input.id,
    input.wrapper,
    input.wrapped,
    input.nowMs,
  );
  return rows.length === 1;
}

export function* rewrapStoreKey(input: Command<'rewrapStoreKey'>): Program<boolean> {
  const rows = yield* change(
    'update store_key set wrapper = ?, wrapped = ? where id = ? and wrapped = ? returning id',
    input.wrapper,
    input.wrapped,
    input.id,
    input.from,
  );
  return rows.length === 1;
}

export function* closeStoreKeys({ below }: Command<'closeStoreKeys'>): Program<void> {
  yield* change('update store_key set closed = 1 where id < ?', below);
}

export function* removeStoreKeys({ below }: Command<'removeStoreKeys'>): Program<boolean> {
  yield* lock(STORE_KEYS_LOCK);
  const copied = yield* first(
    `select 1 as found from store_property where name = ? and value <> ''`,
    COPIED_CLOSED_KEY,
  );
  if (copied !== undefined) return false;
  yield* change('delete from store_key where closed = 1 and id < ?', below);
  return true;
}

export function* sealedRows({ kind, after, limit }: Query<'sealedRows'>): Program<readonly SealedRow[]> {
  const { table, key, body, only = '1 = 1' } = TABLES[kind];
  const columns = key.join(', ');
  const behind = `(${columns}) > (${key.map(() => '?').join(', ')})`;
  const where = after === null ? only : `${only} and ${behind}`;
  const rows = yield* all(
    `select ${columns}, ${body} as body from ${table} where ${where} order by ${columns} limit ?`,
    ...(after ?? []),
    limit,
  );
  return rows.map((row) => ({ key: key.map((column) => keyValue(row[column])), body: text(row, 'body') }));
}

export function* replaceSealed({ kind, rows, nowMs }: Command<'replaceSealed'>): Program<number> {
  const { table, key, body, only = '1 = 1' } = TABLES[kind];
  const where = key.map((column) => `${column} = ?`).join(' and ');
  let replaced = 0;
  for (const row of rows) {
    yield* lockRow(kind, row.key);
    const changed = yield* change(
      `update ${table} set ${body} = ? where ${where} and ${only} and ${body} = ? returning 1 as changed`,
      row.to,
      ...row.key,
      row.from,
    );
    replaced += changed.length;
    if (kind === 'notification' && changed.length > 0) yield* noteNewDocument(row.key, nowMs);
  }
  return replaced;
}

/** Guards against changes that read the row and then write it in full. */
function* lockRow(kind: SealedKind, [first = '', second = '']: RowKey): Program<void> {
  if (kind === 'object') yield* lock(`object/${first}/${second}`);
  if (kind === 'notification') yield* lock(`bucket/${first}`);
}

/** Invalidates cached configurations of the bucket. */
function* noteNewDocument([bucketId]: RowKey, nowMs: number): Program<void> {
  if (bucketId === undefined) return;
  yield* change('update bucket set configuration_version = configuration_version + 1 where id = ?', bucketId);
  yield* change(
    `update bucket_document set updated_at_ms = ? where bucket_id = ? and name = 'notification'`,
    nowMs,
    bucketId,
  );
}

/** Rejects data whose key was closed after it was sealed. The caller seals it again. */
export function assertSealedOpen(sealed: string | undefined, openFrom: number): void {
  if (sealed !== undefined && isSealedClosed(sealed, openFrom)) throw storeErrors.KeyClosed();
}

/** Whether the key that sealed it is closed. */
export function isSealedClosed(sealed: string, openFrom: number): boolean {
  const id = parseStoreKey(sealed);
  return id !== null && id < openFrom && openFrom > 1;
}

/** The same check for a write that does not read a bucket row. */
export function* assertOpenKey(sealed: string): Program<void> {
  const row = yield* first(`select ${OPEN_FROM}`);
  assertSealedOpen(sealed, row === undefined ? 0 : integer(row, 'open_from'));
}

function keyValue(value: SqlValue | undefined): string | number {
  if (typeof value === 'string' || typeof value === 'number') return value;
  throw new Error('a primary key holds neither text nor a number');
}
