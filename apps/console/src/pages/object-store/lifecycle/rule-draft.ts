import { parseBytes, writeBytes } from '../../../ui/format-bytes.ts';
import { parseLines } from '../settings/lines.ts';
import type { Rule } from './rule.ts';

/** A rule as typed. Empty fields are not set. */
export interface RuleDraft {
  id: string;
  enabled: boolean;
  prefix: string;
  /** One `name=value` per line. */
  tags: string;
  largerThan: string;
  smallerThan: string;
  expireDays: string;
  expiredMarkers: boolean;
  noncurrentDays: string;
  keptVersions: string;
  abortDays: string;
}

export function createDraft(rule: Rule | null): RuleDraft {
  const size = (value: number | null | undefined): string =>
    value === null || value === undefined ? '' : writeBytes(value);
  const text = (value: number | null | undefined): string => value?.toString() ?? '';
  return {
    id: rule?.id ?? '',
    enabled: rule?.enabled ?? true,
    prefix: rule?.filter.prefix ?? '',
    tags: Object.entries(rule?.filter.tags ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join('\n'),
    largerThan: size(rule?.filter.size_greater_than),
    smallerThan: size(rule?.filter.size_less_than),
    expireDays: text(rule?.expiration?.days),
    expiredMarkers: rule?.expiration?.expired_object_delete_marker === true,
    noncurrentDays: text(rule?.noncurrent_version_expiration?.days),
    keptVersions: text(rule?.noncurrent_version_expiration?.newer_versions),
    abortDays: text(rule?.abort_incomplete_multipart_upload?.days),
  };
}

export type RuleFaults = Readonly<Partial<Record<keyof RuleDraft, string>>>;

/** Returns the typed rule, or the errors by field. Keeps an existing expiry date. */
export function parseRuleDraft(draft: RuleDraft, before: Rule | null): { rule: Rule | null; faults: RuleFaults } {
  const faults: { -readonly [Field in keyof RuleDraft]?: string } = {};
  const days = (field: 'expireDays' | 'noncurrentDays' | 'abortDays' | 'keptVersions'): number | null => {
    const text = draft[field].trim();
    if (text === '') return null;
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
    faults[field] = 'Enter a whole number, 1 or more.';
    return null;
  };
  const size = (field: 'largerThan' | 'smallerThan'): number | null => {
    if (draft[field].trim() === '') return null;
    const sizeBytes = parseBytes(draft[field]);
    if (sizeBytes === null) faults[field] = 'Enter a size, for example 10 MiB.';
    return sizeBytes;
  };
  const tags = parseTags(draft.tags);
  if (tags === null) faults.tags = 'Enter one name=value per line.';
  if (draft.id.trim() === '') faults.id = 'Enter a name.';
  const noncurrentDays = days('noncurrentDays');
  const keptVersions = days('keptVersions');
  const abortDays = days('abortDays');
  const rule: Rule = {
    id: draft.id.trim(),
    enabled: draft.enabled,
    filter: {
      prefix: draft.prefix,
      tags: tags ?? {},
      size_greater_than: size('largerThan'),
      size_less_than: size('smallerThan'),
    },
    expiration: expirationOf(days('expireDays'), draft.expiredMarkers, before),
    noncurrent_version_expiration:
      noncurrentDays === null ? null : { days: noncurrentDays, newer_versions: keptVersions },
    abort_incomplete_multipart_upload: abortDays === null ? null : { days: abortDays },
  };
  if (draft.expireDays.trim() !== '' && draft.expiredMarkers) {
    faults.expireDays = 'A rule can delete objects or expired delete markers, not both.';
  }
  if (keptVersions !== null && noncurrentDays === null)
    faults.noncurrentDays = 'Enter when to delete the other versions.';
  const empty = rule.expiration === null && noncurrentDays === null && abortDays === null;
  if (empty && Object.keys(faults).length === 0) faults.expireDays = 'Choose at least one action.';
  return { rule: Object.keys(faults).length === 0 ? rule : null, faults };
}

function expirationOf(days: number | null, markers: boolean, before: Rule | null): Rule['expiration'] {
  if (days !== null) return { days };
  if (markers) return { expired_object_delete_marker: true };
  const date = before?.expiration?.date;
  return date === undefined ? null : { date };
}

function parseTags(text: string): Record<string, string> | null {
  const tags: Record<string, string> = {};
  for (const line of parseLines(text)) {
    const equals = line.indexOf('=');
    if (equals < 1) return null;
    tags[line.slice(0, equals).trim()] = line.slice(equals + 1).trim();
  }
  return tags;
}
