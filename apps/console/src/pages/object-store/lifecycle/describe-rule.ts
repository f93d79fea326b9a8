import { formatBytes } from '../../../ui/format-bytes.ts';
import type { Rule } from './rule.ts';

/** Describes a rule: its effects and its scope. */
export function describeRule(rule: Rule): { effects: string[]; scope: string } {
  return { effects: describeEffects(rule), scope: describeScope(rule.filter) };
}

function describeEffects(rule: Rule): string[] {
  const effects: string[] = [];
  const { expiration, noncurrent_version_expiration: noncurrent, abort_incomplete_multipart_upload: abort } = rule;
  if (expiration?.days !== undefined) effects.push(`Delete objects after ${days(expiration.days)}`);
  if (expiration?.date !== undefined) effects.push(`Delete objects on ${expiration.date.slice(0, 10)}`);
  if (expiration?.expired_object_delete_marker === true) effects.push('Delete expired delete markers');
  if (noncurrent !== null) {
    const keeping = noncurrent.newer_versions === null ? '' : `, keep the newest ${noncurrent.newer_versions}`;
    effects.push(`Delete old versions after ${days(noncurrent.days)}${keeping}`);
  }
  if (abort !== null) effects.push(`Delete unfinished uploads after ${days(abort.days)}`);
  return effects;
}

function describeScope(filter: Rule['filter']): string {
  const parts: string[] = [];
  if (filter.prefix !== '') parts.push(`keys starting with “${filter.prefix}”`);
  for (const [name, value] of Object.entries(filter.tags)) parts.push(`tagged ${name} = ${value}`);
  if (filter.size_greater_than !== null) parts.push(`larger than ${formatBytes(filter.size_greater_than)}`);
  if (filter.size_less_than !== null) parts.push(`smaller than ${formatBytes(filter.size_less_than)}`);
  return parts.length === 0 ? 'the whole bucket' : parts.join(', ');
}

function days(count: number): string {
  return count === 1 ? '1 day' : `${count} days`;
}
