const LONGEST_MS = 3_600_000;

/** A failed attempt, and how long to wait after it. */
export interface RetryDelay {
  /** Failed attempts before this one. */
  readonly attempts: number;
  readonly firstMs: number;
  readonly random: (size: number) => Buffer;
}

/** Time until the next attempt: doubles with each one up to an hour, and varies by a fifth, so that retries spread out. */
export function retryDelayMs({ attempts, firstMs, random }: RetryDelay): number {
  const jitter = 0.8 + (random(1).readUInt8() / 255) * 0.4;
  return Math.round(Math.min(firstMs * 2 ** Math.min(attempts, 30), LONGEST_MS) * jitter);
}
