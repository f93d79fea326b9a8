import type { BucketSettings } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { createDraft, parseLimitDraft } from './limit-draft.ts';

const settings = (changes: Partial<BucketSettings>): BucketSettings => ({
  publicDefault: false,
  cacheControl: null,
  cors_rules: [],
  soft_delete: { enabled: true, retention_days: 7 },
  max_object_size: null,
  allowed_content_types: null,
  quota: { max_bytes: null, max_objects: null },
  website: null,
  notifications: null,
  ...changes,
});

describe('limits of a bucket', () => {
  it('are saved as shown, to the byte', () => {
    const limits = {
      quota: { max_bytes: 10 * 1024 ** 3 + 1, max_objects: 5 },
      max_object_size: 5 * 1024 ** 2,
      allowed_content_types: ['image/*', 'text/plain'],
    };
    expect(parseLimitDraft(createDraft(settings(limits)))).toEqual({ change: limits, faults: {} });
    const { change } = parseLimitDraft(createDraft(settings({})));
    expect(change.quota).toEqual({ max_bytes: null, max_objects: null });
  });

  it('are rejected at their field', () => {
    const draft = { bytes: 'much', objects: '1.5', largest: '', types: 'image' };
    expect(Object.keys(parseLimitDraft(draft).faults).toSorted()).toEqual(['bytes', 'objects', 'types']);
  });
});
