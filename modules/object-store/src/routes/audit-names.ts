/** For the audit log, where a refused body may have any shape. */
export function nameIn(value: unknown): string {
  const { name } = (value ?? {}) as { name?: unknown }; // only looked at
  return typeof name === 'string' ? name.slice(0, 64) : 'unnamed';
}

/** What a change of a bucket is logged as. */
export function bucketResource(request: { params: unknown }): string {
  return `bucket/${nameIn(request.params)}`;
}

/** What a change of an object is logged as; its key is in the query. */
export function objectResource(request: { params: unknown; query: unknown }): string {
  const { key } = (request.query ?? {}) as { key?: unknown }; // only looked at
  return `object/${nameIn(request.params)}/${typeof key === 'string' ? key.slice(0, 256) : ''}`;
}
