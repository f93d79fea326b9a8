/** What can be told. A rule names them with `s3:` before, and may end with `*`. */
export const EVENT_NAMES = [
  'ObjectCreated:Put',
  'ObjectCreated:Post',
  'ObjectCreated:Copy',
  'ObjectCreated:CompleteMultipartUpload',
  'ObjectRemoved:Delete',
  'ObjectRemoved:DeleteMarkerCreated',
  'LifecycleExpiration:Delete',
  'LifecycleExpiration:DeleteMarkerCreated',
] as const;

export type EventName = (typeof EVENT_NAMES)[number];

/** Whether one of `s3:ObjectCreated:*`, `s3:ObjectRemoved:Delete`, … means this event. */
export function meansEvent(patterns: readonly string[], name: EventName): boolean {
  return patterns.some((pattern) => {
    const wanted = pattern.replace(/^s3:/, '');
    return wanted === name || (wanted.endsWith(':*') && name.startsWith(wanted.slice(0, -1)));
  });
}

/** Whether a pattern means anything at all. */
export function isEventPattern(pattern: string): boolean {
  return pattern.startsWith('s3:') && EVENT_NAMES.some((name) => meansEvent([pattern], name));
}
