import type { AgingVersion } from '../ports/lifecycle-metadata.ts';
import type { LifecycleDocument, LifecycleRule } from './lifecycle-document.ts';
import { dueAfter, findExpiry, matchesFilter, type LifecycleDay } from './rule-matching.ts';

/** A version's place among the versions of its key. */
export interface VersionPlace {
  /** Creation time of the next newer version, when this one became noncurrent. Null for the current version. */
  replacedAtMs: number | null;
  /** Number of newer noncurrent versions of the key. */
  newerNoncurrent: number;
  /** Whether it is the only version of its key. */
  alone: boolean;
}

export type ExpiryDecision =
  | 'keep'
  /** Like a client's delete of the key: adds a delete marker in a versioned bucket. */
  | 'delete-current'
  /** Deletes this version permanently. */
  | 'delete-version';

/** Decides what a bucket's rules do to a version now. A pure function: the result is the same on every replica. */
export function decideExpiry(
  document: LifecycleDocument,
  version: AgingVersion,
  place: VersionPlace,
  now: { nowMs: number; day: LifecycleDay },
): ExpiryDecision {
  const rules = document.rules.filter((rule) => rule.enabled);
  if (!version.isLatest) {
    return rules.some((rule) => isNoncurrentDue(rule, version, place, now)) ? 'delete-version' : 'keep';
  }
  if (version.deleteMarker) {
    return place.alone && rules.some((rule) => isMarkerDue(rule, version, now)) ? 'delete-version' : 'keep';
  }
  const expiry = findExpiry(document, version, now.day);
  return expiry !== null && expiry.atMs <= now.nowMs ? 'delete-current' : 'keep';
}

function isNoncurrentDue(
  rule: LifecycleRule,
  version: AgingVersion,
  { replacedAtMs, newerNoncurrent }: VersionPlace,
  { nowMs, day }: { nowMs: number; day: LifecycleDay },
): boolean {
  const wanted = rule.noncurrentVersionExpiration;
  if (wanted === null || replacedAtMs === null || !matchesVersion(rule, version)) return false;
  if (newerNoncurrent < (wanted.newerVersions ?? 0)) return false;
  return dueAfter(replacedAtMs, wanted.days, day) <= nowMs;
}

/** A delete marker without other versions is due at once if a rule asks for that, or by age like a current version. */
function isMarkerDue(
  rule: LifecycleRule,
  version: AgingVersion,
  { nowMs, day }: { nowMs: number; day: LifecycleDay },
): boolean {
  const { expiration } = rule;
  if (expiration === null || !matchesVersion(rule, version)) return false;
  if ('expiredObjectDeleteMarker' in expiration) return true;
  const dueMs =
    'date' in expiration ? Date.parse(expiration.date) : dueAfter(version.modifiedAtMs, expiration.days, day);
  return dueMs <= nowMs;
}

/** Delete markers have neither tags nor a size, so rules that filter by those do not match. */
function matchesVersion({ filter }: LifecycleRule, version: AgingVersion): boolean {
  const asksForSize = filter.sizeGreaterThanBytes !== null || filter.sizeLessThanBytes !== null;
  if (version.deleteMarker && asksForSize) return false;
  return matchesFilter(filter, version);
}
