import { storeErrors } from '../../errors.ts';
import type { WriteConditions } from '../../ports/metadata-store.ts';

/** RFC 9110 section 13.1 on the newest version; `current` is null where there is none or a delete marker covers it. */
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

function matches(tags: readonly string[], etag: string): boolean {
  return tags.includes('*') || tags.includes(etag);
}
