import type { UsageDrift } from '../../domain/ports/blobs.ts';
import type { MetadataCommands, MetadataQueries } from '../../domain/ports/metadata-store.ts';
import type { TrashEntry } from '../../domain/ports/trash.ts';
import { all, change, first, type Program } from '../program.ts';
import { integer, text } from '../row.ts';
import { forgetBlob } from './blob-programs.ts';
import { leaveTrash, releaseSharedBlob } from './trash-rows.ts';

type Command<Name extends keyof MetadataCommands> = Parameters<MetadataCommands[Name]>[0];
type Query<Name extends keyof MetadataQueries> = Parameters<MetadataQueries[Name]>[0];

export function* dueTrash({ nowMs, limit }: Query<'dueTrash'>): Program<readonly TrashEntry[]> {
  const rows = yield* all(
    `select kind, content_id from trash where due_at_ms <= ?
       and not exists (select 1 from trash_hold where until_ms > ?)
       and not exists (select 1 from content_read r where r.content_id = trash.content_id and r.until_ms > ?)
     order by due_at_ms, content_id limit ?`,
    nowMs,
    nowMs,
    nowMs,
    limit,
  );
  return rows.map((row) => ({
    kind: text(row, 'kind') === 'manifest' ? 'manifest' : 'blob',
    contentId: text(row, 'content_id'),
  }));
}

export function* holdContent({ holder, contentIds, nowMs, untilMs }: Command<'holdContent'>): Program<void> {
  yield* change('delete from content_read where until_ms <= ?', nowMs);
  for (const contentId of contentIds) {
    yield* change(
      `insert into content_read (content_id, holder, until_ms) values (?, ?, ?)
       on conflict (content_id, holder) do update set until_ms = excluded.until_ms`,
      contentId,
      holder,
      untilMs,
    );
  }
}

export function* forgetTrash({ removed, kept }: Command<'forgetTrash'>): Program<void> {
  for (const { kind, contentId } of removed) {
    if (kind === 'manifest') {
      yield* change('delete from part where upload_id = ?', contentId);
      yield* change('delete from upload where upload_id = ?', contentId);
    } else {
      yield* forgetBlob(contentId);
    }
  }
  yield* leaveTrash([...kept, ...removed].map(({ contentId }) => contentId));
}

/** Makes up to `limit` of a workspace's trash entries due now. */
export function* hastenTrash({
  workspaceUuid,
  nowMs,
  limit,
}: Command<'hastenTrash'>): Program<{ entries: number; bytes: number }> {
  const rows = yield* change(
    `update trash set due_at_ms = ? where content_id in (
       select content_id from trash where workspace_uuid = ? and due_at_ms > ? limit ?)
     returning size_bytes`,
    nowMs,
    workspaceUuid,
    nowMs,
    limit,
  );
  return { entries: rows.length, bytes: rows.reduce((sum, row) => sum + integer(row, 'size_bytes'), 0) };
}

export function* forgetManifestParts(input: Command<'forgetManifestParts'>): Program<void> {
  const gone = yield* change(
    'delete from part where upload_id = ? and part_number <= ? returning blob_id',
    input.manifestId,
    input.throughPartNumber,
  );
  for (const blobId of input.removedBlobs) yield* forgetBlob(blobId);
  const removed = new Set(input.removedBlobs);
  // Blobs that were shared a moment ago may be unreferenced now.
  for (const blobId of new Set(gone.map((row) => text(row, 'blob_id')))) {
    if (!removed.has(blobId)) yield* releaseSharedBlob(blobId, input.manifestId);
  }
}

export function* forgetCompletedUploads({ beforeMs, limit }: Command<'forgetCompletedUploads'>): Program<number> {
  const rows = yield* change(
    `delete from upload where upload_id in (
       select upload_id from upload where completed_at_ms is not null and completed_at_ms < ? limit ?)
     returning upload_id`,
    beforeMs,
    limit,
  );
  return rows.length;
}

export function* isContentNeeded({ kind, contentId }: Query<'isContentNeeded'>): Program<boolean> {
  const row =
    kind === 'blob'
      ? yield* first(
          `select 1 as found from object where blob_id = ?
           union all select 1 from part p where p.blob_id = ?
             and not exists (select 1 from trash t where t.content_id = p.upload_id) limit 1`,
          contentId,
          contentId,
        )
      : yield* first(
          `select 1 as found from object where manifest_id = ?
           union all select 1 from upload where upload_id = ? and completed_at_ms is null limit 1`,
          contentId,
          contentId,
        );
  return row !== undefined;
}

/**
 * Returns the recorded size of each blob: encrypted content is larger than the object, and a part can be a range of its
 * blob.
 */
export function* neededBlobs(input: Query<'neededBlobs'>): Program<readonly { blobId: string; storedBytes: number }[]> {
  const rows = yield* all(
    `select n.blob_id, coalesce(b.size_bytes, n.size_bytes) as stored_bytes from (
       select blob_id, max(size_bytes) as size_bytes from (
         select blob_id, size_bytes from object where blob_id is not null and blob_id > ?
         union all
         select p.blob_id, p.size_bytes from part p
           where p.blob_id > ? and not exists (select 1 from trash t where t.content_id = p.upload_id)) as needed
       group by blob_id order by blob_id limit ?) as n left join blob b on b.blob_id = n.blob_id
     order by 1`,
    input.after,
    input.after,
    input.limit,
  );
  return rows.map((row) => ({ blobId: text(row, 'blob_id'), storedBytes: integer(row, 'stored_bytes') }));
}

export function* usageDrift({ after, limit }: Query<'usageDrift'>): Program<readonly UsageDrift[]> {
  const rows = yield* all(
    `select u.bucket_id, u.object_count, u.size_bytes, u.marker_count, u.upload_count, u.upload_bytes,
       (select count(*) from object o where o.bucket_id = u.bucket_id and o.delete_marker = 0) as actual_count,
       (select coalesce(sum(o.size_bytes), 0) from object o where o.bucket_id = u.bucket_id and o.delete_marker = 0) as actual_bytes,
       (select count(*) from object o where o.bucket_id = u.bucket_id and o.delete_marker = 1) as actual_markers,
       (select count(*) from upload l where l.bucket_id = u.bucket_id and l.completed_at_ms is null) as actual_uploads,
       (select coalesce(sum(p.size_bytes), 0) from upload l join part p on p.upload_id = l.upload_id
         where l.bucket_id = u.bucket_id and l.completed_at_ms is null) as actual_upload_bytes
     from bucket_usage u join bucket b on b.id = u.bucket_id
     where u.bucket_id > ? and b.state <> 'forking' order by u.bucket_id limit ?`,
    after,
    limit,
  );
  return rows.map((row) => ({
    bucketId: integer(row, 'bucket_id'),
    counted: {
      objectCount: integer(row, 'object_count'),
      sizeBytes: integer(row, 'size_bytes'),
      markerCount: integer(row, 'marker_count'),
      uploadCount: integer(row, 'upload_count'),
      uploadBytes: integer(row, 'upload_bytes'),
    },
    actual: {
      objectCount: integer(row, 'actual_count'),
      sizeBytes: integer(row, 'actual_bytes'),
      markerCount: integer(row, 'actual_markers'),
      uploadCount: integer(row, 'actual_uploads'),
      uploadBytes: integer(row, 'actual_upload_bytes'),
    },
  }));
}
