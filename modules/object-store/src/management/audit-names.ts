/** For the audit log, where a refused body may have any shape. */
export function nameIn(value: unknown): string {
  const { name } = (value ?? {}) as { name?: unknown }; // only looked at
  return typeof name === 'string' ? name.slice(0, 64) : 'unnamed';
}

/** What a change of a bucket is logged as. */
export function bucketResource(request: { params: unknown }): string {
  return `bucket/${nameIn(request.params)}`;
}
