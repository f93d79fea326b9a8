import { storeErrors } from '../../errors.ts';
import type { LifecycleRule } from './lifecycle-document.ts';

const MIDNIGHT = /T00:00:00(\.0+)?Z$/;

/** Validates what the schema cannot. `rules.N` names the invalid rule. */
export function checkLifecycleRules(rules: readonly LifecycleRule[]): void {
  const ids = new Set<string>();
  for (const [index, rule] of rules.entries()) {
    const field = `rules.${index}`;
    if (ids.has(rule.id)) throw invalid(`${field}.id`, `two rules have the id ${rule.id}`);
    ids.add(rule.id);
    checkActions(rule, field);
    checkFilter(rule, field);
  }
}

function checkActions(rule: LifecycleRule, field: string): void {
  const { expiration, noncurrentVersionExpiration, abortIncompleteMultipartUpload } = rule;
  if (expiration === null && noncurrentVersionExpiration === null && abortIncompleteMultipartUpload === null) {
    throw invalid(field, 'a rule needs at least one action');
  }
  if (expiration !== null && 'date' in expiration && !MIDNIGHT.test(expiration.date)) {
    throw invalid(`${field}.expiration.date`, 'the date must be at midnight UTC');
  }
}

function checkFilter({ filter, ...rule }: LifecycleRule, field: string): void {
  const { sizeGreaterThanBytes: above, sizeLessThanBytes: below } = filter;
  if (above !== null && below !== null && above + 1 >= below) {
    throw invalid(`${field}.filter`, 'no size is both greater and less than these');
  }
  const hasTags = Object.keys(filter.tags).length > 0;
  const hasSize = above !== null || below !== null;
  // Uploads have neither yet, and delete markers never do (API reference, LifecycleRuleFilter).
  if (rule.abortIncompleteMultipartUpload !== null && (hasTags || hasSize)) {
    throw invalid(`${field}.filter`, 'aborting uploads cannot be filtered by tags or size');
  }
  const { expiration } = rule;
  if (expiration !== null && 'expiredObjectDeleteMarker' in expiration && hasTags) {
    throw invalid(`${field}.filter`, 'removing delete markers cannot be filtered by tags');
  }
}

function invalid(field: string, reason: string): Error {
  return storeErrors.InvalidArgument({ details: { field, reason } });
}
