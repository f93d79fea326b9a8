import { describe, expect, it } from 'vitest';
import { parseDurationMs } from './duration.ts';
import { nearest } from './nearest.ts';

describe('nearest', () => {
  it('finds a name with a typo, including swapped letters', () => {
    expect(nearest('prot', ['host', 'port'])).toBe('port');
    expect(nearest('max_per_calller', ['max_per_caller', 'driver'])).toBe('max_per_caller');
  });

  it('returns null when nothing is close', () => {
    expect(nearest('kitchen', ['port', 'driver'])).toBeNull();
  });
});

describe('parseDurationMs', () => {
  it('adds up the parts', () => {
    expect(parseDurationMs('1h30m')).toBe(5_400_000);
    expect(parseDurationMs('250ms')).toBe(250);
    expect(parseDurationMs('1.5s')).toBe(1500);
  });

  it('rejects a number without a unit', () => {
    expect(() => parseDurationMs('30')).toThrow('not a duration: 30');
  });
});
