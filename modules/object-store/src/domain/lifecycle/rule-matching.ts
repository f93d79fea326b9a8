import type { LifecycleDocument, LifecycleFilter, LifecycleRule } from './lifecycle-document.ts';

export const DAY_MS = 86_400_000;

/** How long a day of the rules is. A real one ends at midnight in UTC, as AWS counts; a shorter one just lasts. */
export interface LifecycleDay {
  lengthMs: number;
}

/** What a filter looks at. */
export interface Matchable {
  key: string;
  sizeBytes: number;
  tags: Readonly<Record<string, string>>;
}

export function matchesFilter(filter: LifecycleFilter, object: Matchable): boolean {
  if (!object.key.startsWith(filter.prefix)) return false;
  if (filter.sizeGreaterThanBytes !== null && object.sizeBytes <= filter.sizeGreaterThanBytes) return false;
  if (filter.sizeLessThanBytes !== null && object.sizeBytes >= filter.sizeLessThanBytes) return false;
  return Object.entries(filter.tags).every(
    ([key, value]) => Object.hasOwn(object.tags, key) && object.tags[key] === value,
  );
}

/** When something that began at `sinceMs` is so many days old. */
export function dueAfter(sinceMs: number, days: number, day: LifecycleDay): number {
  const dueMs = sinceMs + days * day.lengthMs;
  return day.lengthMs === DAY_MS ? Math.ceil(dueMs / DAY_MS) * DAY_MS : dueMs;
}

export interface Expiry {
  atMs: number;
  ruleId: string;
}

/** The first time at which a rule expires the newest version of a key; null when none does. */
export function expiryOf(
  document: LifecycleDocument,
  object: Matchable & { modifiedAtMs: number },
  day: LifecycleDay,
): Expiry | null {
  let earliest: Expiry | null = null;
  for (const rule of document.rules) {
    if (!rule.enabled || !matchesFilter(rule.filter, object)) continue;
    const atMs = expirationTime(rule, object.modifiedAtMs, day);
    if (atMs !== null && (earliest === null || atMs < earliest.atMs)) earliest = { atMs, ruleId: rule.id };
  }
  return earliest;
}

function expirationTime({ expiration }: LifecycleRule, modifiedAtMs: number, day: LifecycleDay): number | null {
  if (expiration === null || 'expiredObjectDeleteMarker' in expiration) return null;
  return 'date' in expiration ? Date.parse(expiration.date) : dueAfter(modifiedAtMs, expiration.days, day);
}
