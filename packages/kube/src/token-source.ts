import { readFile } from 'node:fs/promises';
import type { TokenSource } from './access.ts';

/** Creates a source of a token that never changes. */
export function staticToken(token: string | null): TokenSource {
  return { current: () => Promise.resolve(token), invalidate: () => undefined };
}

/**
 * Reads a token from a file that is replaced over time, like the projected tokens of kubelets (valid for an hour,
 * renewed at 80 %). Reads at most once a minute, and again after a refusal.
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
