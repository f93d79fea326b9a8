import { describe, expect, it } from 'vitest';
import { createDraft, parseRuleDraft } from './rule-draft.ts';

const EMPTY = createDraft(null);

describe('a lifecycle rule draft', () => {
  it('becomes the rule, and the rule becomes the same draft', () => {
    const draft = {
      ...EMPTY,
      id: 'logs',
      prefix: 'logs/',
      tags: 'keep=no\nclass = cold',
      largerThan: '1 MiB',
      expireDays: '30',
      noncurrentDays: '7',
      keptVersions: '3',
      abortDays: '2',
    };
    const { rule, faults } = parseRuleDraft(draft, null);
    expect(faults).toEqual({});
    expect(rule).toEqual({
      id: 'logs',
      enabled: true,
      filter: {
        prefix: 'logs/',
        tags: { keep: 'no', class: 'cold' },
        size_greater_than: 1024 ** 2,
        size_less_than: null,
      },
      expiration: { days: 30 },
      noncurrent_version_expiration: { days: 7, newer_versions: 3 },
      abort_incomplete_multipart_upload: { days: 2 },
    });
    expect(parseRuleDraft(createDraft(rule), rule).rule).toEqual(rule);
  });

  it('keeps exact sizes when other fields change', () => {
    const { rule } = parseRuleDraft({ ...EMPTY, id: 'a', expireDays: '1', largerThan: '1500000' }, null);
    expect(parseRuleDraft({ ...createDraft(rule), expireDays: '2' }, rule).rule?.filter.size_greater_than).toBe(
      1_500_000,
    );
  });

  it.each([
    [{ id: '', expireDays: '1' }, 'id'],
    [{ expireDays: '0' }, 'expireDays'],
    [{ abortDays: 'soon' }, 'abortDays'],
    [{ expireDays: '1', largerThan: 'big' }, 'largerThan'],
    [{ expireDays: '1', tags: 'novalue' }, 'tags'],
    [{ expireDays: '1', expiredMarkers: true }, 'expireDays'],
    [{ keptVersions: '2' }, 'noncurrentDays'],
    [{}, 'expireDays'],
  ])('is rejected at the field: %j', (changes, field) => {
    const { rule, faults } = parseRuleDraft({ ...EMPTY, id: 'a', ...changes }, null);
    expect(rule).toBeNull();
    expect(Object.keys(faults)).toContain(field);
  });

  it('keeps an expiry date, which the form does not show', () => {
    const { rule } = parseRuleDraft({ ...EMPTY, id: 'a', abortDays: '1' }, null);
    if (rule === null) throw new Error('a valid rule was refused');
    const dated = { ...rule, expiration: { date: '2030-01-01T00:00:00.000Z' } };
    expect(parseRuleDraft(createDraft(dated), dated).rule).toEqual(dated);
  });
});
