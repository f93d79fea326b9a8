import { describe, expect, it } from 'vitest';
import { describeRule } from './describe-rule.ts';
import type { Rule } from './rule.ts';

const NOTHING: Rule = {
  id: 'a',
  enabled: true,
  filter: { prefix: '', tags: {}, size_greater_than: null, size_less_than: null },
  expiration: null,
  noncurrent_version_expiration: null,
  abort_incomplete_multipart_upload: null,
};

describe('the description of a lifecycle rule', () => {
  it('gives its effects, times and scope', () => {
    const rule: Rule = {
      ...NOTHING,
      filter: { prefix: 'logs/', tags: { keep: 'no' }, size_greater_than: 1024, size_less_than: null },
      expiration: { days: 30 },
      noncurrent_version_expiration: { days: 1, newer_versions: 2 },
      abort_incomplete_multipart_upload: { days: 7 },
    };
    expect(describeRule(rule)).toEqual({
      effects: [
        'Delete objects after 30 days',
        'Delete old versions after 1 day, keep the newest 2',
        'Delete unfinished uploads after 7 days',
      ],
      scope: 'keys starting with “logs/”, tagged keep = no, larger than 1 KiB',
    });
  });

  it('names the whole bucket without filters', () => {
    expect(describeRule({ ...NOTHING, expiration: { expired_object_delete_marker: true } })).toEqual({
      effects: ['Delete expired delete markers'],
      scope: 'the whole bucket',
    });
  });
});
