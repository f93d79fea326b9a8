/** Reads a name for the audit log. A rejected body may have any shape. */
export function nameIn(value: unknown): string {
  const { name } = (value ?? {}) as { name?: unknown }; // unvalidated; checked below
  return typeof name === 'string' ? name.slice(0, 64) : 'unnamed';
}

/** The audit log's resource for a bucket. */
export function bucketResource(request: { params: unknown }): string {
  return `bucket/${nameIn(request.params)}`;
}

/** The audit log's resource for an object, whose key is in the query. */
export function objectResource(request: { params: unknown; query: unknown }): string {
  const { key } = (request.query ?? {}) as { key?: unknown }; // unvalidated; checked below
  return `object/${nameIn(request.params)}/${typeof key === 'string' ? key.slice(0, 256) : ''}`;
}
