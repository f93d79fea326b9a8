/** `ENOSPC` and `EDQUOT` of the file system, `SQLITE_FULL`, PostgreSQL's `disk_full`. */
export function isDiskFull(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }; // foreign errors; each field is compared only
  return code === 'ENOSPC' || code === 'EDQUOT' || errcode === 13 || code === '53100';
}
