/** Thousands of events are kept of each cluster: one may not be a megabyte. Our own agent's are a tenth of this at most. */
const MAX_DETAILS_CHARACTERS = 16 * 1024;
const MAX_TEXT_CHARACTERS = 1000;

/** Details as they came, or the first of them that fit, shortened, with `truncated`. */
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

/** ISO 8601 in UTC. An agent's clock may be hours away and is taken as it is; what is no time at all is ours. */
export function timeOf(said: string, now: Date): string {
  const at = new Date(said);
  return (Number.isNaN(at.getTime()) ? now : at).toISOString();
}
