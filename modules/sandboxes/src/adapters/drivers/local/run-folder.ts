import { createHash } from 'node:crypto';

/**
 * Where the sockets and bundles of a data folder's sandboxes are. Paths of unix sockets have at most 107 bytes and data
 * folders may be deep; the same data always gives the same name, so that a restart finds what runs.
 */
export function runFolderOf(dataFolder: string): string {
  return `/run/svc/${createHash('sha256').update(dataFolder).digest('hex').slice(0, 12)}`;
}
