/** ISO 8601 UTC with milliseconds. All stored times use this format, so text order is time order. */
export function timestamp(at: Date): string {
  return at.toISOString();
}

export function secondsAfter(at: Date, seconds: number): Date {
  return new Date(at.getTime() + seconds * 1000);
}
