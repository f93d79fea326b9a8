/** `ENOSPC` and `EDQUOT` of the file system. `packages/sql` detects those of databases. */
export function isDiskFull(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

const FAULTS: ReadonlySet<unknown> = new Set(['EIO', 'EROFS', 'ENXIO', 'EUCLEAN']);

/** The disk cannot read or write, or was remounted read-only after a fault. */
export function isDiskFault(error: unknown): boolean {
  return FAULTS.has(codeOf(error));
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
