/** IMF-fixdate of RFC 9110 section 5.6.7; whole seconds. */
export function toHttpDate(timeMs: number): string {
  return new Date(timeMs).toUTCString();
}

/** Null for what is not a date; a malformed one is as good as none (RFC 9110 section 13.1.3). */
export function fromHttpDate(text: string | undefined): number | null {
  if (text === undefined) return null;
  const timeMs = Date.parse(text);
  return Number.isNaN(timeMs) ? null : timeMs;
}
