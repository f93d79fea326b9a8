import { storeErrors } from '../../errors.ts';
import type { MetadataCommands, MetadataQueries } from '../../domain/ports/metadata-store.ts';
import type { AccessKeyRecord, KeyMaker, KeyPermission } from '../../domain/ports/records.ts';
import { all, change, first, lock, send, type Program, type Row } from '../program.ts';
import { integer, integerOrNull, text, textOrNull } from '../row.ts';
import { assertOpenKey } from './key-ring-programs.ts';

type Command<Name extends keyof MetadataCommands> = Parameters<MetadataCommands[Name]>[0];
type Query<Name extends keyof MetadataQueries> = Parameters<MetadataQueries[Name]>[0];

export function* createAccessKey({ key, maxKeys }: Command<'createAccessKey'>): Program<void> {
  yield* lock(`workspace/${key.workspaceUuid}`);
  const tenant = yield* first('select 1 as found from tenant where workspace_uuid = ?', key.workspaceUuid);
  if (tenant === undefined) throw storeErrors.TenantNotProvisioned();
  const count = yield* first(
    `select count(*) as keys from access_key where workspace_uuid = ? and purpose = 'user'`,
    key.workspaceUuid,
  );
  if (count !== undefined && integer(count, 'keys') >= maxKeys) {
    throw storeErrors.TooManyAccessKeys({ details: { limit: maxKeys } });
  }
  for (const name of key.buckets ?? []) {
    const bucket = yield* first(
      `select 1 as found from bucket where name = ? and workspace_uuid = ? and state = 'active'`,
      name,
      key.workspaceUuid,
    );
    if (bucket === undefined) throw storeErrors.NoSuchBucket({ details: { resource: name, field: 'buckets' } });
  }
  yield* insertAccessKey(key, 'user');
}

/** One per creator and workspace. Later requests get the existing key. */
export function* createPresignKey({ key }: Command<'createPresignKey'>): Program<AccessKeyRecord> {
  yield* lock(`workspace/${key.workspaceUuid}`);
  const known = yield* findPresignKey({ workspaceUuid: key.workspaceUuid, maker: key.createdBy });
  if (known !== null) return known;
  yield* insertAccessKey(key, 'presign');
  return key;
}

export function* findPresignKey({ workspaceUuid, maker }: Query<'findPresignKey'>): Program<AccessKeyRecord | null> {
  const row = yield* first(
    `select * from access_key where purpose = 'presign' and workspace_uuid = ? and created_by = ?
       and coalesce(maker_token_id, '') = ?`,
    workspaceUuid,
    maker.principalId,
    maker.tokenId ?? '',
  );
  return row === undefined ? null : toAccessKey(row);
}

function* insertAccessKey(key: AccessKeyRecord, purpose: 'user' | 'presign'): Program<void> {
  yield* assertOpenKey(key.sealedSecret);
  yield* change(
    `insert into access_key (access_key_id, workspace_uuid, label, permissions, buckets, sealed_secret, created_at_ms,
       created_by, maker_token_id, maker_kind, maker_name, expires_at_ms, last_used_at_ms, purpose)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    key.accessKeyId,
    key.workspaceUuid,
    key.label,
    JSON.stringify(key.permissions),
    key.buckets === null ? null : JSON.stringify(key.buckets),
    key.sealedSecret,
    key.createdAtMs,
    key.createdBy.principalId,
    key.createdBy.tokenId,
    key.createdBy.kind,
    key.createdBy.name,
    key.expiresAtMs,
    key.lastUsedAtMs,
    purpose,
  );
}

export function* deleteAccessKey(input: Command<'deleteAccessKey'>): Program<boolean> {
  const rows =
    input.createdBy === undefined
      ? yield* change(
          'delete from access_key where access_key_id = ? and workspace_uuid = ? returning access_key_id',
          input.accessKeyId,
          input.workspaceUuid,
        )
      : yield* change(
          'delete from access_key where access_key_id = ? and workspace_uuid = ? and created_by = ? returning access_key_id',
          input.accessKeyId,
          input.workspaceUuid,
          input.createdBy,
        );
  return rows.length > 0;
}

export function* touchAccessKeys({ usedAtMs }: Command<'touchAccessKeys'>): Program<void> {
  // In a fixed order, so that replicas that touch the same keys do not deadlock.
  for (const [accessKeyId, atMs] of Object.entries(usedAtMs).toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    yield* send('update access_key set last_used_at_ms = ? where access_key_id = ?', atMs, accessKeyId);
  }
}

export function* forgetPresignKeys({ unusedSinceMs, limit }: Command<'forgetPresignKeys'>): Program<number> {
  const rows = yield* change(
    `delete from access_key where access_key_id in (select access_key_id from access_key
       where purpose = 'presign' and coalesce(last_used_at_ms, created_at_ms) < ? limit ?)
     returning access_key_id`,
    unusedSinceMs,
    limit,
  );
  return rows.length;
}

export function* findAccessKey({ accessKeyId }: Query<'findAccessKey'>): Program<AccessKeyRecord | null> {
  const row = yield* first('select * from access_key where access_key_id = ?', accessKeyId);
  return row === undefined ? null : toAccessKey(row);
}

export function* listAccessKeys(input: Query<'listAccessKeys'>): Program<readonly AccessKeyRecord[]> {
  const rows = yield* all(
    `select * from access_key where workspace_uuid = ? and access_key_id > ? and purpose = 'user'
     order by access_key_id limit ?`,
    input.workspaceUuid,
    input.after,
    input.limit,
  );
  return rows.map((row) => toAccessKey(row));
}

function toAccessKey(row: Row): AccessKeyRecord {
  const buckets = textOrNull(row, 'buckets');
  return {
    accessKeyId: text(row, 'access_key_id'),
    workspaceUuid: text(row, 'workspace_uuid'),
    label: text(row, 'label'),
    permissions: JSON.parse(text(row, 'permissions')) as KeyPermission[], // written by createAccessKey
    buckets: buckets === null ? null : (JSON.parse(buckets) as string[]), // written by createAccessKey
    sealedSecret: text(row, 'sealed_secret'),
    createdAtMs: integer(row, 'created_at_ms'),
    createdBy: {
      principalId: text(row, 'created_by'),
      tokenId: textOrNull(row, 'maker_token_id'),
      kind: text(row, 'maker_kind') as KeyMaker['kind'], // written by createAccessKey
      name: text(row, 'maker_name'),
    },
    expiresAtMs: integerOrNull(row, 'expires_at_ms'),
    lastUsedAtMs: integerOrNull(row, 'last_used_at_ms'),
  };
}
