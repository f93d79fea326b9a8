/** What the domain takes from the outside world, so that a test can move the clock and name the ids. */
export interface Effects {
  readonly now: () => Date;
  readonly randomBytes: (sizeBytes: number) => Buffer;
  /** A UUID. */
  readonly newId: () => string;
}

/** ISO 8601 UTC with milliseconds: the one form of every stored time, so that text order is time order. */
export function timestamp(at: Date): string {
  return at.toISOString();
}

export function secondsAfter(at: Date, seconds: number): Date {
  return new Date(at.getTime() + seconds * 1000);
}
