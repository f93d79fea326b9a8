/**
 * Thousands of events are kept per cluster, so a single one must stay small. Our own agent sends at most a tenth of
 * this.
 */
const MAX_DETAILS_CHARACTERS = 16 * 1024;
const MAX_TEXT_CHARACTERS = 1000;

/** Returns the details unchanged, or the first ones that fit, shortened and marked `truncated`. */
export function boundedDetails(details: Record<string, unknown>): Record<string, unknown> {
  if (JSON.stringify(details).length <= MAX_DETAILS_CHARACTERS) return details;
  const kept: Record<string, unknown> = {};
  let left = MAX_DETAILS_CHARACTERS;
  for (const [name, value] of Object.entries(details)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const short = text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS - 1)}…` : value;
    left -= JSON.stringify({ [name]: short }).length;
    if (left < 0) break;
    kept[name] = short;
  }
  return { ...kept, truncated: true };
}

/** ISO 8601 in UTC. Keeps the agent's time even if its clock is hours off; an unparsable time becomes `now`. */
export function parseTime(said: string, now: Date): string {
  const at = new Date(said);
  return (Number.isNaN(at.getTime()) ? now : at).toISOString();
}
