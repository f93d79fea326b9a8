import { fromHttpDate } from './http-date.ts';

export interface ReadConditions {
  ifMatch: string | undefined;
  ifNoneMatch: string | undefined;
  ifModifiedSince: string | undefined;
  ifUnmodifiedSince: string | undefined;
}

export type ConditionResult = 'send' | 'not-modified' | 'failed';

/** RFC 9110 section 13.2.2: ETags take precedence over dates; a date counts only if its ETag condition is absent. */
export function evaluateReadConditions(
  conditions: ReadConditions,
  object: { etag: string; modifiedAtMs: number },
): ConditionResult {
  // HTTP dates have whole seconds.
  const modifiedAtMs = Math.floor(object.modifiedAtMs / 1_000) * 1_000;
  if (conditions.ifMatch !== undefined) {
    if (!matchesTag(conditions.ifMatch, object.etag)) return 'failed';
  } else {
    const since = fromHttpDate(conditions.ifUnmodifiedSince);
    if (since !== null && modifiedAtMs > since) return 'failed';
  }
  if (conditions.ifNoneMatch !== undefined) {
    return matchesTag(conditions.ifNoneMatch, object.etag) ? 'not-modified' : 'send';
  }
  const since = fromHttpDate(conditions.ifModifiedSince);
  return since !== null && modifiedAtMs <= since ? 'not-modified' : 'send';
}

/** Parses a list of ETags, with or without quotes and the weak prefix. `*` matches any. */
export function parseTags(header: string): readonly string[] {
  return header
    .split(',')
    .map((tag) =>
      tag
        .trim()
        .replace(/^W\//, '')
        .replace(/^"(.*)"$/, '$1'),
    )
    .filter((tag) => tag !== '');
}

function matchesTag(header: string, etag: string): boolean {
  const tags = parseTags(header);
  return tags.includes('*') || tags.includes(etag);
}
