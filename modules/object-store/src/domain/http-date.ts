/** IMF-fixdate (RFC 9110 section 5.6.7), in whole seconds. */
export function toHttpDate(timeMs: number): string {
  return new Date(timeMs).toUTCString();
}

/** Null for an invalid date, which counts as absent (RFC 9110 section 13.1.3). */
export function fromHttpDate(text: string | undefined): number | null {
  if (text === undefined) return null;
  const timeMs = Date.parse(text);
  return Number.isNaN(timeMs) ? null : timeMs;
}
