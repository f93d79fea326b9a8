import { describe, expect, it } from 'vitest';
import { assertFormAllowed, assertFormSize, parseFormPolicy } from './form-policy.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const encode = (document: unknown): string => Buffer.from(JSON.stringify(document)).toString('base64');
const policy = (conditions: unknown, expiration: unknown = '2026-01-01T01:00:00Z') =>
  parseFormPolicy(encode({ expiration, conditions }));
const check =
  (conditions: unknown[], fields: Record<string, string>, nowMs = NOW) =>
  () =>
    assertFormAllowed(policy(conditions), new Map(Object.entries(fields)), nowMs);

describe('form policies', () => {
  it.each<[string, unknown]>([
    ['no conditions', { expiration: '2026-01-01T01:00:00Z' }],
    ['conditions in capitals', { expiration: '2026-01-01T01:00:00Z', CONDITIONS: [] }],
    ['no expiration', { conditions: [] }],
    ['an expiration in words', { expiration: 'tomorrow', conditions: [] }],
    ['an expiration without a zone', { expiration: '2026-01-01 01:00:00', conditions: [] }],
    ['an empty condition', { expiration: '2026-01-01T01:00:00Z', conditions: [{}] }],
    ['two fields in one condition', { expiration: '2026-01-01T01:00:00Z', conditions: [{ a: 'b', c: 'd' }] }],
    ['an unknown operator', { expiration: '2026-01-01T01:00:00Z', conditions: [['ends-with', '$key', 'a']] }],
    ['a field without its sign', { expiration: '2026-01-01T01:00:00Z', conditions: [['eq', 'key', 'a']] }],
    ['half a range', { expiration: '2026-01-01T01:00:00Z', conditions: [['content-length-range', 0]] }],
    ['a range below nothing', { expiration: '2026-01-01T01:00:00Z', conditions: [['content-length-range', -1, 0]] }],
    ['nothing', null],
  ])('rejects a policy with %s', (_, document) => {
    expect(() => parseFormPolicy(encode(document))).toThrow(expect.objectContaining({ code: 'InvalidPolicyDocument' }));
  });

  it('rejects a policy that is not JSON', () => {
    expect(() => parseFormPolicy('????')).toThrow(expect.objectContaining({ code: 'InvalidPolicyDocument' }));
  });

  it('requires every field to be listed and its condition met, ignoring the case of names', () => {
    const conditions = [{ BuCkEt: 'b' }, ['STARTS-WITH', '$Key', 'foo']];
    expect(check(conditions, { bucket: 'b', key: 'foobar' })).not.toThrow();
    expect(check(conditions, { bucket: 'b', key: 'Foobar' })).toThrow(/Policy Condition failed|Access Denied/);
    expect(check(conditions, { bucket: 'c', key: 'foobar' })).toThrow(
      expect.objectContaining({ code: 'AccessDenied' }),
    );
    expect(check(conditions, { bucket: 'b', key: 'foobar', acl: 'public-read' })).toThrow(
      expect.objectContaining({ code: 'AccessDenied' }),
    );
    expect(
      check(conditions, { bucket: 'b', key: 'foobar', 'x-ignore-this': '1', 'x-amz-checksum-crc32': 'x' }),
    ).not.toThrow();
    expect(check([], { bucket: 'b' })).toThrow(expect.objectContaining({ code: 'AccessDenied' }));
  });

  it('rejects a form after the policy’s expiration', () => {
    expect(check([{ bucket: 'b' }], { bucket: 'b' }, Date.parse('2026-01-01T01:00:00Z'))).toThrow(
      expect.objectContaining({ code: 'AccessDenied' }),
    );
  });

  it('checks each of several content types', () => {
    const conditions = [{ bucket: 'b' }, ['starts-with', '$Content-Type', 'image/']];
    expect(check(conditions, { bucket: 'b', 'content-type': 'image/png, image/gif' })).not.toThrow();
    expect(check(conditions, { bucket: 'b', 'content-type': 'image/png,text/html' })).toThrow();
  });

  it('limits the size of the file', () => {
    const range = policy([['content-length-range', 2, '4']]);
    expect(() => assertFormSize(range, 3)).not.toThrow();
    expect(() => assertFormSize(range, 1)).toThrow(expect.objectContaining({ code: 'EntityTooSmall' }));
    expect(() => assertFormSize(range, 5)).toThrow(expect.objectContaining({ code: 'EntityTooLarge' }));
    expect(() => assertFormSize(policy([]), 5)).not.toThrow();
  });
});
