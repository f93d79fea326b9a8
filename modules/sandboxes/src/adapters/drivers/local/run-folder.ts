import { createHash } from 'node:crypto';

/**
 * Folder for sockets and bundles of a data folder's sandboxes. Unix socket paths are limited to 107 bytes, and data
 * folders may be deep. The name depends only on the data folder, so that a restart finds running sandboxes.
 */
export function runFolderOf(dataFolder: string): string {
  return `/run/svc/${createHash('sha256').update(dataFolder).digest('hex').slice(0, 12)}`;
}
