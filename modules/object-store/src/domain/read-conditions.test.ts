import { describe, expect, it } from 'vitest';
import { evaluateReadConditions, parseTags, type ReadConditions } from './read-conditions.ts';

const object = { etag: 'abc', modifiedAtMs: Date.parse('2026-01-02T03:04:05.678Z') };
const before = 'Fri, 02 Jan 2026 03:04:04 GMT';
const same = 'Fri, 02 Jan 2026 03:04:05 GMT';

function evaluate(given: Partial<ReadConditions>): string {
  const none = { ifMatch: undefined, ifNoneMatch: undefined, ifModifiedSince: undefined, ifUnmodifiedSince: undefined };
  return evaluateReadConditions({ ...none, ...given }, object);
}

describe('read conditions', () => {
  it.each<[Partial<ReadConditions>, string]>([
    [{}, 'send'],
    [{ ifMatch: '"abc"' }, 'send'],
    [{ ifMatch: 'abc' }, 'send'],
    [{ ifMatch: '"x", "abc"' }, 'send'],
    [{ ifMatch: '*' }, 'send'],
    [{ ifMatch: '"x"' }, 'failed'],
    [{ ifNoneMatch: '"abc"' }, 'not-modified'],
    [{ ifNoneMatch: 'W/"abc"' }, 'not-modified'],
    [{ ifNoneMatch: '*' }, 'not-modified'],
    [{ ifNoneMatch: '"x"' }, 'send'],
    [{ ifModifiedSince: same }, 'not-modified'],
    [{ ifModifiedSince: before }, 'send'],
    [{ ifModifiedSince: 'no date' }, 'send'],
    [{ ifUnmodifiedSince: same }, 'send'],
    [{ ifUnmodifiedSince: before }, 'failed'],
  ])('%o -> %s', (given, expected) => {
    expect(evaluate(given)).toBe(expected);
  });

  it('gives ETags precedence over dates', () => {
    expect(evaluate({ ifMatch: '"abc"', ifUnmodifiedSince: before })).toBe('send');
    expect(evaluate({ ifNoneMatch: '"x"', ifModifiedSince: same })).toBe('send');
    expect(evaluate({ ifMatch: '"abc"', ifNoneMatch: '"abc"' })).toBe('not-modified');
  });

  it('parses lists of ETags', () => {
    expect(parseTags('"a", W/"b",c, ')).toEqual(['a', 'b', 'c']);
  });
});
