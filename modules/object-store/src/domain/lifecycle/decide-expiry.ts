import type { AgingVersion } from '../ports/lifecycle-metadata.ts';
import type { LifecycleDocument, LifecycleRule } from './lifecycle-document.ts';
import { dueAfter, expiryOf, matchesFilter, type LifecycleDay } from './rule-matching.ts';

/** What stands around a version within its key. */
export interface VersionPlace {
  /** When the next newer version came: since then this one is not current. Null for the newest. */
  replacedAtMs: number | null;
  /** How many versions of the key that are not current are newer than this one. */
  newerNoncurrent: number;
  /** It is all that there is of its key. */
  alone: boolean;
}

export type ExpiryDecision =
  | 'keep'
  /** As a client's delete of the key: a marker where versions are kept. */
  | 'delete-current'
  /** This very version, for good. */
  | 'delete-version';

/** What the rules of a bucket do to one version now. A pure function: the same answer on every replica. */
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
  const expiry = expiryOf(document, version, now.day);
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

/** A delete marker behind which nothing is left goes at once where asked for, and by its age as a current version does. */
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

/** Delete markers have neither tags nor a size: rules that ask for those leave them. */
function matchesVersion({ filter }: LifecycleRule, version: AgingVersion): boolean {
  const asksForSize = filter.sizeGreaterThanBytes !== null || filter.sizeLessThanBytes !== null;
  if (version.deleteMarker && asksForSize) return false;
  return matchesFilter(filter, version);
}
