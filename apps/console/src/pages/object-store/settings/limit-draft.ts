import type { BucketSettings, BucketSettingsChange } from '@svc/sdk';
import { parseBytes, writeBytes } from '../../../ui/format-bytes.ts';
import { parseLines } from './lines.ts';

/** Limits as typed; an empty field means no limit. */
export interface LimitDraft {
  bytes: string;
  objects: string;
  largest: string;
  types: string;
}

export function createDraft({ quota, max_object_size, allowed_content_types }: BucketSettings): LimitDraft {
  return {
    bytes: sizeText(quota.max_bytes),
    objects: quota.max_objects?.toString() ?? '',
    largest: sizeText(max_object_size),
    types: (allowed_content_types ?? []).join('\n'),
  };
}

export type LimitFaults = Partial<Record<keyof LimitDraft, string>>;

/** Returns the typed change and its errors. */
export function parseLimitDraft(draft: LimitDraft): { change: BucketSettingsChange; faults: LimitFaults } {
  const faults: LimitFaults = {};
  const size = (field: 'bytes' | 'largest'): number | null => {
    if (draft[field].trim() === '') return null;
    const sizeBytes = parseBytes(draft[field]);
    if (sizeBytes === null) faults[field] = 'Enter a size, for example 10 GiB.';
    return sizeBytes;
  };
  const count = draft.objects.trim();
  if (count !== '' && !/^\d{1,15}$/.test(count)) faults.objects = 'Enter a whole number.';
  const types = parseLines(draft.types);
  if (types.some((type) => !/^[^/\s;]+\/[^/\s;]+$/.test(type)))
    faults.types = 'Enter types such as image/png or image/*.';
  const change = {
    quota: { max_bytes: size('bytes'), max_objects: count === '' ? null : Number(count) },
    max_object_size: size('largest'),
    allowed_content_types: types.length === 0 ? null : types,
  };
  return { change, faults };
}

function sizeText(sizeBytes: number | null): string {
  return sizeBytes === null ? '' : writeBytes(sizeBytes);
}
