import { unwatchFile, watchFile } from 'node:fs';

/**
 * Calls back when a file was replaced or written. It is asked for its time every few seconds: notifications of the
 * kernel miss the way Kubernetes replaces a mounted ConfigMap, which is a change of a symbolic link two levels up.
 */
export function watchFileForChange(path: string, intervalMs: number, changed: () => void): () => void {
  const listener = (now: { mtimeMs: number; size: number }, before: { mtimeMs: number; size: number }): void => {
    if (now.mtimeMs !== before.mtimeMs || now.size !== before.size) changed();
  };
  watchFile(path, { interval: intervalMs, persistent: false }, listener);
  return () => unwatchFile(path, listener);
}
