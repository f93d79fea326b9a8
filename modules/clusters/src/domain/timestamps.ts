/** ISO 8601 UTC with milliseconds. All stored times use this format, so text order is time order. */
export function timestampAfter(now: Date, delayMs: number): string {
  return new Date(now.getTime() + delayMs).toISOString();
}
