import { readFile } from 'node:fs/promises';
import type { TokenSource } from './access.ts';

export function staticToken(token: string | null): TokenSource {
  return { current: () => Promise.resolve(token), invalidate: () => undefined };
}

/**
 * A token in a file that is replaced from time to time, as kubelets do with projected tokens (they live an hour and are
 * renewed at 80 %). Read at most once a minute, and again after a refusal.
 */
export function fileToken(path: string, nowMs: () => number, maxAgeMs = 60_000): TokenSource {
  let token: string | null = null;
  let readAtMs = Number.NEGATIVE_INFINITY;
  return {
    current: async () => {
      if (token === null || nowMs() - readAtMs > maxAgeMs) {
        token = (await readFile(path, 'utf8')).trim();
        readAtMs = nowMs();
      }
      return token;
    },
    invalidate: () => (readAtMs = Number.NEGATIVE_INFINITY),
  };
}
