import { describe, expect, it } from 'vitest';
import { nameFault } from './cluster-name.ts';

describe('the name of a cluster', () => {
  it.each(['', 'a', 'eu-west-1', '9'])('can be %j', (name) => expect(nameFault(name)).toBeUndefined());

  it.each([
    ['Production', 'Use lowercase letters: “P” is uppercase.'],
    ['my cluster', 'Spaces are not allowed. Use a hyphen.'],
    ['a_b', '“_” is not allowed.'],
  ])('cannot be %j, with a reason', (name, fault) => expect(nameFault(name)).toBe(fault));
});
