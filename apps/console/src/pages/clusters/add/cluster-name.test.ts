import { describe, expect, it } from 'vitest';
import { nameFault } from './cluster-name.ts';

describe('the name of a cluster', () => {
  it.each(['', 'a', 'eu-west-1', '9'])('may be %j', (name) => expect(nameFault(name)).toBeUndefined());

  it.each([
    ['Production', 'Use small letters: “P” is a capital.'],
    ['my cluster', 'A name has no spaces. Use a hyphen.'],
    ['a_b', '“_” cannot be in a name.'],
  ])('cannot be %j, and says why', (name, fault) => expect(nameFault(name)).toBe(fault));
});
