import type { LifecycleExpiration, LifecycleRule } from '../domain/lifecycle/lifecycle-document.ts';
import type { AwsRuleBody, LifecycleBody, LifecycleView, RuleBody } from './lifecycle-schemas.ts';

const DAY_SECONDS = 86_400;

/** Reads rules in any accepted form. A rule without an id is named by its position. */
export function readLifecycleRules(body: LifecycleBody): LifecycleRule[] {
  if (body.Rules !== undefined) return body.Rules.map((rule, index) => fromAws(rule, index));
  return (body.rules ?? []).map((rule, index) => fromOurs(rule, index));
}

function fromOurs(rule: RuleBody, index: number): LifecycleRule {
  const { filter, expiration, noncurrent_version_expiration: noncurrent } = rule;
  const deleteAge = rule.deleteObjectsTransition?.condition.maxAge;
  const abortAge = rule.abortMultipartUploadsTransition?.condition.maxAge;
  return {
    id: rule.id ?? `rule-${index + 1}`,
    enabled: rule.enabled ?? true,
    filter: {
      prefix: filter?.prefix ?? rule.conditions?.prefix ?? '',
      tags: filter?.tags ?? {},
      sizeGreaterThanBytes: filter?.size_greater_than ?? null,
      sizeLessThanBytes: filter?.size_less_than ?? null,
    },
    expiration: toExpiration(expiration ?? {}) ?? (deleteAge === undefined ? null : { days: toDays(deleteAge) }),
    noncurrentVersionExpiration:
      noncurrent === undefined || noncurrent === null
        ? null
        : { days: noncurrent.days, newerVersions: noncurrent.newer_versions ?? null },
    abortIncompleteMultipartUpload:
      rule.abort_incomplete_multipart_upload ?? (abortAge === undefined ? null : { days: toDays(abortAge) }),
  };
}

function fromAws(rule: AwsRuleBody, index: number): LifecycleRule {
  const { Filter: filter = {}, Expiration: expiration, NoncurrentVersionExpiration: noncurrent } = rule;
  const and = filter.And ?? {};
  const tags = [...(filter.Tag === undefined ? [] : [filter.Tag]), ...(filter.And?.Tags ?? [])];
  return {
    id: rule.ID ?? `rule-${index + 1}`,
    enabled: rule.Status === 'Enabled',
    filter: {
      prefix: filter.Prefix ?? and.Prefix ?? rule.Prefix ?? '',
      tags: Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value])),
      sizeGreaterThanBytes: filter.ObjectSizeGreaterThan ?? and.ObjectSizeGreaterThan ?? null,
      sizeLessThanBytes: filter.ObjectSizeLessThan ?? and.ObjectSizeLessThan ?? null,
    },
    expiration: toExpiration({
      days: expiration?.Days,
      date: expiration?.Date,
      expired_object_delete_marker: expiration?.ExpiredObjectDeleteMarker,
    }),
    noncurrentVersionExpiration:
      noncurrent === undefined
        ? null
        : { days: noncurrent.NoncurrentDays, newerVersions: noncurrent.NewerNoncurrentVersions ?? null },
    abortIncompleteMultipartUpload:
      rule.AbortIncompleteMultipartUpload === undefined
        ? null
        : { days: rule.AbortIncompleteMultipartUpload.DaysAfterInitiation },
  };
}

function toExpiration(given: {
  days?: number | undefined;
  date?: string | undefined;
  expired_object_delete_marker?: boolean | undefined;
}): LifecycleExpiration | null {
  if (given.days !== undefined) return { days: given.days };
  if (given.date !== undefined) return { date: new Date(given.date).toISOString() };
  return given.expired_object_delete_marker === true ? { expiredObjectDeleteMarker: true } : null;
}

function toDays(seconds: number): number {
  return Math.ceil(seconds / DAY_SECONDS);
}

export function toLifecycleView(rules: readonly LifecycleRule[]): LifecycleView {
  return { rules: rules.map((rule) => toRuleView(rule)) };
}

function toRuleView(rule: LifecycleRule): LifecycleView['rules'][number] {
  const { filter, expiration, noncurrentVersionExpiration: noncurrent } = rule;
  return {
    id: rule.id,
    enabled: rule.enabled,
    filter: {
      prefix: filter.prefix,
      tags: filter.tags,
      size_greater_than: filter.sizeGreaterThanBytes,
      size_less_than: filter.sizeLessThanBytes,
    },
    expiration:
      expiration !== null && 'expiredObjectDeleteMarker' in expiration
        ? { expired_object_delete_marker: true }
        : expiration,
    noncurrent_version_expiration:
      noncurrent === null ? null : { days: noncurrent.days, newer_versions: noncurrent.newerVersions },
    abort_incomplete_multipart_upload: rule.abortIncompleteMultipartUpload,
  };
}
