import { describe, expect, it } from 'vitest';
import { allowsHost, egressHost } from './egress-hosts.ts';

describe('egress hosts', () => {
  it.each([
    ['example.com', 'example.com'],
    ['EXAMPLE.com.', 'example.com'],
    ['*.Example.com', '*.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['_srv.example.com', '_srv.example.com'],
  ])('normalizes %s to %s', (given, expected) => {
    expect(egressHost(given)).toBe(expected);
  });

  it.each([
    '',
    '*',
    '*.',
    'com',
    '1.2.3.4',
    '::1',
    '[::1]',
    'a..b',
    '-a.com',
    'a b.com',
    '*.*.com',
    'a.*.com',
    'http://a.com',
    'a.com:443',
    'a.com/x',
    `${'a'.repeat(64)}.com`,
    `${'abcdefg.'.repeat(32)}com`,
    '0x7f.1',
    '*.10.0.0.1',
  ])('refuses %s', (given) => {
    expect(egressHost(given)).toBeNull();
  });

  it('matches a wildcard to subdomains at any depth, but never to the name itself or a mere suffix', () => {
    const allowed = ['*.example.com', 'other.org'];
    expect(['a.example.com', 'a.b.example.com', 'other.org'].map((name) => allowsHost(allowed, name))).toEqual([
      true,
      true,
      true,
    ]);
    expect(
      ['example.com', 'badexample.com', 'a.other.org', 'example.com.evil.net'].some((name) =>
        allowsHost(allowed, name),
      ),
    ).toBe(false);
  });
});
