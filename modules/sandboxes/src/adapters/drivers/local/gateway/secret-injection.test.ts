import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { LiveEgressRule } from '../../../../domain/egress-rules/egress-rule.ts';
import { fingerprint, injectionFor, offersHere, requestHeaders, requestPath } from './secret-injection.ts';

const rule = (fields: Partial<LiveEgressRule>): LiveEgressRule => ({
  host: 'api.example.com',
  header: 'authorization',
  query: null,
  insecure: false,
  content: 'Bearer s3cret',
  ...fields,
});
const injected = (...rules: LiveEgressRule[]) => {
  const injection = injectionFor(rules, 'api.example.com', true);
  if ('refusal' in injection) throw new Error(injection.refusal);
  return injection;
};

describe('what is added to a request', () => {
  it('is what the rules of its host say, exact hosts over wildcards', () => {
    const { headers, parameters } = injected(
      rule({ content: 'exact' }),
      rule({ host: '*.example.com', content: 'wild' }),
      rule({ header: null, query: 'key', content: 'k' }),
      rule({ host: 'other.example.com', header: 'x-other' }),
    );
    expect([...headers]).toEqual([['authorization', 'exact']]);
    expect([...parameters]).toEqual([['key', 'k']]);
  });

  it.each([
    ['no rule', [rule({ host: 'other.example.com' })], true, 'no_rule'],
    ['a rule for the names below only', [rule({ host: '*.api.example.com' })], true, 'no_rule'],
    ['plain HTTP', [rule({})], false, 'needs_https'],
    ['a deleted secret', [rule({ content: null })], true, 'no_secret'],
    ['one deleted secret of two', [rule({ header: 'x-a' }), rule({ content: null })], true, 'no_secret'],
  ] as const)('is refused for %s', (_name, rules, isSecure, refusal) => {
    expect(injectionFor(rules, 'api.example.com', isSecure)).toEqual({ refusal });
  });

  it('includes plain HTTP if a rule says so, and then only that rule', () => {
    const injection = injectionFor(
      [rule({}), rule({ header: 'x-open', insecure: true, content: 'o' })],
      'api.example.com',
      false,
    );
    expect('headers' in injection && [...injection.headers]).toEqual([['x-open', 'o']]);
  });

  it('changes its fingerprint with content and rules of that host only', () => {
    const before = fingerprint([rule({})], 'api.example.com');
    expect(fingerprint([rule({ content: 'new' })], 'api.example.com')).not.toBe(before);
    expect(fingerprint([], 'api.example.com')).not.toBe(before);
    expect(fingerprint([rule({}), rule({ host: 'b.example' })], 'api.example.com')).toBe(before);
  });
});

it('sets headers over those of the client, in any case, and the host', () => {
  const rawHeaders = ['Host', 'evil', 'AUTHORIZATION', 'mine', 'authorization', 'again', 'Accept', '*/*'];
  const request = Object.assign(new IncomingMessage(new Socket()), { rawHeaders });
  expect(requestHeaders(request, 'api.example.com', injected(rule({})))).toEqual([
    'Host',
    'api.example.com',
    'Accept',
    '*/*',
    'authorization',
    'Bearer s3cret',
  ]);
});

it('leaves other headers of a response, and offers no other protocol', () => {
  expect(offersHere(['Set-Cookie', 'a=b', 'Alt-Svc', 'h3=":443"', 'X', 'alt-svc'])).toEqual([
    'Set-Cookie',
    'a=b',
    'X',
    'alt-svc',
  ]);
});

it.each([
  ['/', '/?key=a%26b'],
  ['/x?key=mine&n=1', '/x?n=1&key=a%26b'],
  ['/x?k%65y=mine&n=%zz&&', '/x?n=%zz&key=a%26b'],
  ['/x?n=1?key=2', '/x?n=1?key=2&key=a%26b'],
])('sets a parameter of %s', (path, expected) => {
  expect(requestPath(path, injected(rule({ header: null, query: 'key', content: 'a&b' })))).toBe(expected);
  expect(requestPath(path, injected(rule({})))).toBe(path);
});
