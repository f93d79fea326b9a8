import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '@svc/runtime';

/** Records outside the database that the audit log has begun, so that emptying the database is detected. */
export interface BeginningMark {
  isSet(): Promise<boolean>;
  /** Resolves when the mark is on disk. */
  set(): Promise<void>;
}

const TEXT = 'The audit log has begun. Remove this file only to begin a new log in a new database.\n';

/** A file `audit-begun` beside the other keys of the data folder; only its existence matters. */
export function createBeginningMark(folder: string): BeginningMark {
  const path = join(folder, 'audit-begun');
  return {
    isSet: () => stat(path).then(() => true, orAbsent),
    async set() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await replaceFile(path, TEXT);
    },
  };
}

function orAbsent(error: unknown): false {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
  throw error;
}
