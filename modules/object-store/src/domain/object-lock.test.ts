import { describe, expect, it } from 'vitest';
import { assertRemovable, assertRetentionChange, computeDefaultRetention, lockedUntilMs } from './object-lock.ts';

const NOW = 1_000_000;
const governance = { mode: 'GOVERNANCE', untilMs: NOW + 1 } as const;
const compliance = { mode: 'COMPLIANCE', untilMs: NOW + 1 } as const;
const refused = 'Access Denied';

describe('object lock', () => {
  it('allows removing an unlocked version, or one whose lock has expired', () => {
    assertRemovable({}, NOW, false);
    assertRemovable({ legalHold: false, retention: { ...compliance, untilMs: NOW } }, NOW, false);
  });

  it('protects retained and held versions; only governance mode has a bypass', () => {
    expect(() => assertRemovable({ retention: governance }, NOW, false)).toThrow(refused);
    assertRemovable({ retention: governance }, NOW, true);
    expect(() => assertRemovable({ retention: compliance }, NOW, true)).toThrow(refused);
    expect(() => assertRemovable({ legalHold: true }, NOW, true)).toThrow(refused);
    expect(() => assertRemovable({ legalHold: true, retention: governance }, NOW, true)).toThrow(refused);
  });

  it('lets anyone extend a retention, but only the bypass shorten, weaken or remove it', () => {
    const longer = { ...governance, untilMs: NOW + 5 };
    assertRetentionChange(governance, longer, NOW, false);
    assertRetentionChange(compliance, { ...compliance, untilMs: NOW + 5 }, NOW, false);
    for (const next of [{ ...governance, untilMs: NOW }, compliance, null]) {
      expect(() => assertRetentionChange(governance, next, NOW, false)).toThrow(refused);
      assertRetentionChange(governance, next, NOW, true);
    }
    for (const next of [{ ...compliance, untilMs: NOW }, { ...governance, untilMs: NOW + 9 }, null]) {
      expect(() => assertRetentionChange(compliance, next, NOW, true)).toThrow(refused);
    }
    assertRetentionChange({ ...compliance, untilMs: NOW }, null, NOW, false);
  });

  it('counts default retention from now, and a legal hold as endless', () => {
    expect(computeDefaultRetention({ defaultRetention: null }, NOW)).toBeNull();
    const days = computeDefaultRetention({ defaultRetention: { mode: 'GOVERNANCE', days: 2 } }, NOW);
    expect(days).toEqual({ mode: 'GOVERNANCE', untilMs: NOW + 2 * 86_400_000 });
    const years = computeDefaultRetention({ defaultRetention: { mode: 'COMPLIANCE', years: 1 } }, NOW);
    expect(years?.untilMs).toBe(NOW + 365 * 86_400_000);
    expect(lockedUntilMs({})).toBeNull();
    expect(lockedUntilMs({ retention: governance })).toBe(NOW + 1);
    expect(lockedUntilMs({ retention: governance, legalHold: true })).toBeGreaterThan(1e15);
  });
});
