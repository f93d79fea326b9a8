import { ApiError, NetworkError } from './errors.ts';

/**
 * Whether a failure is worth a retry. Reading a body throws TypeError if its connection is lost (WHATWG Fetch, 5.3).
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500 || error.status === 429;
  return error instanceof NetworkError || error instanceof TypeError;
}

/** Waits for a time in milliseconds. Rejects with the signal's reason on abort. */
export function pause(timeMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason instanceof Error ? signal.reason : new Error('Aborted'));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, timeMs);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
