import type { LifecycleRule } from '@svc/sdk';

/** A rule with every field there; what it does not say is null or empty. */
export interface Rule {
  id: string;
  enabled: boolean;
  filter: {
    prefix: string;
    tags: Readonly<Record<string, string>>;
    size_greater_than: number | null;
    size_less_than: number | null;
  };
  expiration: { days?: number; date?: string; expired_object_delete_marker?: boolean } | null;
  noncurrent_version_expiration: { days: number; newer_versions: number | null } | null;
  abort_incomplete_multipart_upload: { days: number } | null;
}

export function ruleFrom(rule: LifecycleRule): Rule {
  const noncurrent = rule.noncurrent_version_expiration ?? null;
  return {
    id: rule.id ?? '',
    enabled: rule.enabled ?? true,
    filter: {
      prefix: rule.filter?.prefix ?? '',
      tags: rule.filter?.tags ?? {},
      size_greater_than: rule.filter?.size_greater_than ?? null,
      size_less_than: rule.filter?.size_less_than ?? null,
    },
    expiration: rule.expiration ?? null,
    noncurrent_version_expiration:
      noncurrent === null ? null : { days: noncurrent.days, newer_versions: noncurrent.newer_versions ?? null },
    abort_incomplete_multipart_upload: rule.abort_incomplete_multipart_upload ?? null,
  };
}
