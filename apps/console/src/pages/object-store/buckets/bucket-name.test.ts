import { describe, expect, it } from 'vitest';
import { bucketNameFault, sanitizeBucketName } from './bucket-name.ts';

describe('the name of a bucket', () => {
  it.each([
    ['My Photos', 'my-photos'],
    ['--a__b..c--', 'a-b-c'],
    ['Ünïcode', 'n-code'],
  ])('is converted from %j to %j', (typed, name) => expect(sanitizeBucketName(typed)).toBe(name));

  it('is checked for its length after the conversion', () => {
    expect(bucketNameFault('a!')).toMatch(/at least 3/);
    expect(bucketNameFault('x'.repeat(64))).toMatch(/at most 63/);
    expect(bucketNameFault('photos')).toBeUndefined();
  });
});
