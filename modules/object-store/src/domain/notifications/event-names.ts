/** Events that can be sent. Rules prefix them with `s3:`, and may end in `*`. */
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

/** Whether one of the patterns, such as `s3:ObjectCreated:*`, matches the event. */
export function meansEvent(patterns: readonly string[], name: EventName): boolean {
  return patterns.some((pattern) => {
    const wanted = pattern.replace(/^s3:/, '');
    return wanted === name || (wanted.endsWith(':*') && name.startsWith(wanted.slice(0, -1)));
  });
}

/** Whether a pattern matches any event. */
export function isEventPattern(pattern: string): boolean {
  return pattern.startsWith('s3:') && EVENT_NAMES.some((name) => meansEvent([pattern], name));
}
