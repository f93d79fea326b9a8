import { unwatchFile, watchFile } from 'node:fs';

/**
 * Calls back when a file is replaced or written. Polls its modification time every few seconds: kernel notifications
 * miss the way Kubernetes replaces a mounted ConfigMap, which changes a symbolic link two levels up.
 */
export function watchFileForChange(path: string, intervalMs: number, changed: () => void): () => void {
  const listener = (now: { mtimeMs: number; size: number }, before: { mtimeMs: number; size: number }): void => {
    if (now.mtimeMs !== before.mtimeMs || now.size !== before.size) changed();
  };
  watchFile(path, { interval: intervalMs, persistent: false }, listener);
  return () => unwatchFile(path, listener);
}
