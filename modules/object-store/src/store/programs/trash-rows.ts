import type { ContentLocation } from '../../domain/ports/records.ts';
import { add, change, first, lock, send, type Program, type Row } from '../program.ts';
import { integer, text, textOrNull } from '../row.ts';
import { addUsage } from './bucket-rows.ts';

/** Bytes that become unreferenced. They count toward the workspace of their bucket until they are removed. */
export interface Release {
  bucketId: number;
  sizeBytes: number;
  dueAtMs: number;
}

interface TrashRow {
  kind: 'blob' | 'manifest';
  contentId: string;
  sizeBytes: number;
  dueAtMs: number;
  /** Null if they count toward none. */
  workspaceUuid: string | null;
}

/**
 * Releases an object's bytes after its row was deleted. Inline bytes are deleted at once; a blob or manifest goes to
 * the trash, unless another row (a copy) refers to it.
 */
export function* releaseContent(location: ContentLocation, release: Release): Program<void> {
  switch (location.kind) {
    case 'empty':
      return;
    case 'inline':
      yield* send('delete from inline_content where id = ?', location.inlineId);
      return;
    case 'blob':
      yield* releaseBlob(location.blobId, release);
      return;
    case 'manifest': {
      yield* lock(`manifest/${location.manifestId}`); // the last two rows that share it may be deleted concurrently
      const other = yield* first('select 1 as found from object where manifest_id = ? limit 1', location.manifestId);
      if (other === undefined) yield* trash('manifest', location.manifestId, release);
    }
  }
}

export function* releaseBlob(blobId: string, release: Release): Program<void> {
  if (!(yield* isBlobNeeded(blobId))) yield* trash('blob', blobId, release);
}

/** Releases a blob of a trashed manifest that was shared until a moment ago. */
export function* releaseSharedBlob(blobId: string, manifestId: string): Program<void> {
  if (yield* isBlobNeeded(blobId)) return;
  const manifest = yield* first('select workspace_uuid from trash where content_id = ?', manifestId);
  const blob = yield* first('select size_bytes from blob where blob_id = ?', blobId);
  const workspaceUuid = manifest === undefined ? null : textOrNull(manifest, 'workspace_uuid');
  const sizeBytes = blob === undefined ? 0 : integer(blob, 'size_bytes');
  yield* addTrash({ kind: 'blob', contentId: blobId, sizeBytes, dueAtMs: 0, workspaceUuid });
}

/** Ends an upload. Its parts go to the trash as one manifest, however many there are. */
export function* trashUpload(uploadId: string, bucketId: number, dueAtMs: number): Program<void> {
  const parts = yield* first(
    'select count(*) as count, cast(coalesce(sum(size_bytes), 0) as bigint) as bytes from part where upload_id = ?',
    uploadId,
  );
  const sizeBytes = parts === undefined ? 0 : integer(parts, 'bytes');
  if (parts !== undefined && integer(parts, 'count') > 0) {
    yield* trash('manifest', uploadId, { bucketId, sizeBytes, dueAtMs });
  }
  yield* send('delete from upload where upload_id = ?', uploadId);
  yield* addUsage(bucketId, { uploads: -1, uploadBytes: -sizeBytes });
}

/** Removes content from the trash that is needed again. */
export function* takeFromTrash(location: ContentLocation): Program<void> {
  if (location.kind === 'blob') yield* leaveTrash([location.blobId]);
  if (location.kind === 'manifest') yield* leaveTrash([location.manifestId]);
}

/** Deletes trash rows whose content was removed or is needed again. */
export function* leaveTrash(contentIds: readonly string[]): Program<void> {
  const left = new Map<string, number>();
  for (const contentId of contentIds) {
    const rows = yield* change(
      'delete from trash where content_id = ? returning size_bytes, workspace_uuid',
      contentId,
    );
    for (const row of rows) addTo(left, row);
  }
  for (const [workspaceUuid, bytes] of left) yield* addTrashBytes(workspaceUuid, -bytes);
}

function addTo(sums: Map<string, number>, row: Row): void {
  const workspaceUuid = textOrNull(row, 'workspace_uuid');
  if (workspaceUuid !== null) sums.set(workspaceUuid, (sums.get(workspaceUuid) ?? 0) + integer(row, 'size_bytes'));
}

function* isBlobNeeded(blobId: string): Program<boolean> {
  yield* lock(`blob/${blobId}`); // the last two rows that share it may be deleted concurrently
  const object = yield* first('select 1 as found from object where blob_id = ? limit 1', blobId);
  return (
    object !== undefined ||
    (yield* first('select 1 as found from part where blob_id = ? limit 1', blobId)) !== undefined
  );
}

function* trash(kind: TrashRow['kind'], contentId: string, { bucketId, ...release }: Release): Program<void> {
  const bucket = yield* first('select workspace_uuid from bucket where id = ?', bucketId);
  const workspaceUuid = bucket === undefined ? null : text(bucket, 'workspace_uuid');
  yield* addTrash({ kind, contentId, workspaceUuid, ...release });
}

function* addTrash({ kind, contentId, sizeBytes, dueAtMs, workspaceUuid }: TrashRow): Program<void> {
  const added = yield* change(
    `insert into trash (due_at_ms, content_id, kind, size_bytes, workspace_uuid) values (?, ?, ?, ?, ?)
     on conflict do nothing returning content_id`,
    dueAtMs,
    contentId,
    kind,
    sizeBytes,
    workspaceUuid,
  );
  if (added.length > 0 && workspaceUuid !== null) yield* addTrashBytes(workspaceUuid, sizeBytes);
}

function* addTrashBytes(workspaceUuid: string, bytes: number): Program<void> {
  yield* add('update tenant set trash_bytes = trash_bytes + ? where workspace_uuid = ?', [bytes], workspaceUuid);
}
