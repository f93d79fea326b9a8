import type { LifecycleDocument, LifecycleFilter, LifecycleRule } from './lifecycle-document.ts';

export const DAY_MS = 86_400_000;

/** Length of a day in the rules. A real day ends at midnight UTC, as at AWS; a shorter one is just a duration. */
export interface LifecycleDay {
  lengthMs: number;
}

/** The properties that a filter checks. */
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

/** When something from `sinceMs` reaches an age in days. */
export function dueAfter(sinceMs: number, days: number, day: LifecycleDay): number {
  const dueMs = sinceMs + days * day.lengthMs;
  return day.lengthMs === DAY_MS ? Math.ceil(dueMs / DAY_MS) * DAY_MS : dueMs;
}

export interface Expiry {
  atMs: number;
  ruleId: string;
}

/** The earliest time at which a rule expires the current version of a key. Null if none does. */
export function findExpiry(
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
