import { change, first, lock, type Program } from '../program.ts';
import type { ContentLocation } from '../../domain/ports/records.ts';

/**
 * Lets go of an object's bytes after its row went. Inline bytes go at once; a blob or a manifest goes to the trash, but
 * only when no other row (a copy) has it.
 */
export function* releaseContent(location: ContentLocation, dueAtMs: number): Program<void> {
  switch (location.kind) {
    case 'empty':
      return;
    case 'inline':
      yield* change('delete from inline_content where id = ?', location.inlineId);
      return;
    case 'blob':
      yield* releaseBlob(location.blobId, dueAtMs);
      return;
    case 'manifest': {
      yield* lock(`manifest/${location.manifestId}`); // the last two rows that share it may go at the same time
      const other = yield* first('select 1 as found from object where manifest_id = ? limit 1', location.manifestId);
      if (other === undefined) yield* addTrash('manifest', location.manifestId, dueAtMs);
    }
  }
}

export function* releaseBlob(blobId: string, dueAtMs: number): Program<void> {
  yield* lock(`blob/${blobId}`); // as above
  const other = yield* first('select 1 as found from object where blob_id = ? limit 1', blobId);
  if (other !== undefined) return;
  const part = yield* first('select 1 as found from part where blob_id = ? limit 1', blobId);
  if (part === undefined) yield* addTrash('blob', blobId, dueAtMs);
}

/** Ends an upload: its parts go to the trash as one manifest, however many they are. */
export function* trashUpload(uploadId: string, dueAtMs: number): Program<void> {
  const part = yield* first('select 1 as found from part where upload_id = ? limit 1', uploadId);
  if (part !== undefined) yield* addTrash('manifest', uploadId, dueAtMs);
  yield* change('delete from upload where upload_id = ?', uploadId);
}

function* addTrash(kind: 'blob' | 'manifest', contentId: string, dueAtMs: number): Program<void> {
  yield* change(
    'insert into trash (due_at_ms, content_id, kind) values (?, ?, ?) on conflict do nothing',
    dueAtMs,
    contentId,
    kind,
  );
}
