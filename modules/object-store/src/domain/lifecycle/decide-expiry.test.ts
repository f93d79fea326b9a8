import { describe, expect, it } from 'vitest';
import type { AgingVersion } from '../ports/lifecycle-metadata.ts';
import { decideExpiry, type VersionPlace } from './decide-expiry.ts';
import type { LifecycleRule } from './lifecycle-document.ts';
import { DAY_MS, dueAfter, findExpiry } from './rule-matching.ts';

const NOON = Date.parse('2026-03-10T12:00:00Z');
const current: AgingVersion = {
  key: 'logs/a',
  orderKey: 1,
  versionId: 'v',
  isLatest: true,
  deleteMarker: false,
  sizeBytes: 1_000,
  etag: 'e',
  modifiedAtMs: NOON,
  tags: { kind: 'log' },
};
const alone: VersionPlace = { replacedAtMs: null, newerNoncurrent: 0, alone: true };
const everything = { prefix: '', tags: {}, sizeGreaterThanBytes: null, sizeLessThanBytes: null };

function createRule(changes: Partial<LifecycleRule>): LifecycleRule {
  return {
    id: 'r',
    enabled: true,
    filter: everything,
    expiration: null,
    noncurrentVersionExpiration: null,
    abortIncompleteMultipartUpload: null,
    ...changes,
  };
}

function decide(rule: Partial<LifecycleRule>, version: Partial<AgingVersion>, days: number, place = alone): string {
  const now = { nowMs: NOON + days * DAY_MS, day: { lengthMs: DAY_MS } };
  return decideExpiry({ rules: [createRule(rule)] }, { ...current, ...version }, place, now);
}

describe('lifecycle rules', () => {
  it('rounds whole days up to midnight like AWS, and counts shorter days exactly', () => {
    expect(new Date(dueAfter(NOON, 1, { lengthMs: DAY_MS })).toISOString()).toBe('2026-03-12T00:00:00.000Z');
    expect(dueAfter(NOON, 2, { lengthMs: 10_000 })).toBe(NOON + 20_000);
  });

  it('expires the current version by age or date, if every part of the filter matches', () => {
    const expiration = { days: 2 };
    expect(decide({ expiration }, {}, 2)).toBe('keep');
    expect(decide({ expiration }, {}, 2.5)).toBe('delete-current');
    expect(decide({ expiration: { date: '2026-03-11T00:00:00.000Z' } }, {}, 1)).toBe('delete-current');
    expect(decide({ expiration, enabled: false }, {}, 9)).toBe('keep');
    const filter = { prefix: 'logs/', tags: { kind: 'log' }, sizeGreaterThanBytes: 999, sizeLessThanBytes: 1_001 };
    expect(decide({ expiration, filter }, {}, 9)).toBe('delete-current');
    expect(decide({ expiration, filter }, { key: 'other' }, 9)).toBe('keep');
    expect(decide({ expiration, filter }, { tags: { kind: 'x' } }, 9)).toBe('keep');
    expect(decide({ expiration, filter }, { sizeBytes: 999 }, 9)).toBe('keep');
    expect(decide({ expiration, filter }, { sizeBytes: 1_001 }, 9)).toBe('keep');
  });

  it('removes noncurrent versions by the time they were replaced, and keeps the requested number', () => {
    const rule = { noncurrentVersionExpiration: { days: 1, newerVersions: 2 } };
    const old = { isLatest: false, modifiedAtMs: NOON - 90 * DAY_MS };
    const place = (newerNoncurrent: number) => ({ replacedAtMs: NOON, newerNoncurrent, alone: false });
    expect(decide(rule, old, 1, place(2))).toBe('keep');
    expect(decide(rule, old, 2, place(2))).toBe('delete-version');
    expect(decide(rule, old, 9, place(1))).toBe('keep');
    expect(decide({ expiration: { days: 1 } }, old, 9, place(5))).toBe('keep');
  });

  it('removes a delete marker only if no other version remains', () => {
    const marker = { deleteMarker: true, sizeBytes: 0, tags: {} };
    const rule = { expiration: { expiredObjectDeleteMarker: true } as const };
    expect(decide(rule, marker, 0)).toBe('delete-version');
    expect(decide(rule, marker, 9, { ...alone, alone: false })).toBe('keep');
    expect(decide({ expiration: { days: 3 } }, marker, 2)).toBe('keep');
    expect(decide({ expiration: { days: 3 } }, marker, 4)).toBe('delete-version');
    const sized = { ...everything, sizeLessThanBytes: 10 };
    expect(decide({ ...rule, filter: sized }, marker, 9)).toBe('keep');
  });

  it('reports the earliest expiry among all rules', () => {
    const rules = [
      createRule({ id: 'late', expiration: { days: 9 } }),
      createRule({ id: 'soon', expiration: { days: 1 } }),
    ];
    expect(findExpiry({ rules }, current, { lengthMs: DAY_MS })?.ruleId).toBe('soon');
    expect(findExpiry({ rules: [] }, current, { lengthMs: DAY_MS })).toBeNull();
  });
});
