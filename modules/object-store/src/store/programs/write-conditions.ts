import type { DeleteConditions } from '../../domain/ports/delete-conditions.ts';
import { storeErrors } from '../../errors.ts';
import type { WriteConditions } from '../../domain/ports/records.ts';
import type { ObjectVersion } from '../../domain/ports/records.ts';

/** RFC 9110 section 13.1 on the current version. `current` is null if there is none, or a delete marker hides it. */
export function assertWriteConditions(conditions: WriteConditions, current: { etag: string } | null): void {
  const { ifMatch, ifNoneMatch } = conditions;
  if (ifMatch !== undefined) {
    if (current === null) throw storeErrors.NoSuchKey();
    if (!matches(ifMatch, current.etag)) throw storeErrors.PreconditionFailed({ details: { condition: 'If-Match' } });
  }
  if (ifNoneMatch !== undefined && current !== null && matches(ifNoneMatch, current.etag)) {
    throw storeErrors.PreconditionFailed({ details: { condition: 'If-None-Match' } });
  }
}

/** Checks the version that a delete would remove or hide. A delete marker exists, but only `*` matches it. */
export function assertDeleteConditions(conditions: DeleteConditions, version: ObjectVersion): void {
  const { ifMatch, ifMatchSizeBytes, ifMatchModifiedAtMs } = conditions;
  const failed = (condition: string): Error => storeErrors.PreconditionFailed({ details: { condition } });
  if (ifMatch !== undefined && !matches(ifMatch, version.etag)) throw failed('If-Match');
  if (ifMatchSizeBytes !== undefined && ifMatchSizeBytes !== version.sizeBytes) throw failed('x-amz-if-match-size');
  if (ifMatchModifiedAtMs === undefined) return;
  if (Math.floor(ifMatchModifiedAtMs / 1_000) === Math.floor(version.modifiedAtMs / 1_000)) return;
  throw failed('x-amz-if-match-last-modified-time');
}

function matches(tags: readonly string[], etag: string): boolean {
  return tags.includes('*') || tags.includes(etag);
}
