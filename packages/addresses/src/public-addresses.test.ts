import { describe, expect, it } from 'vitest';
import { publicAddresses } from './public-addresses.ts';

describe('public addresses', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.31.255.255',
    '192.168.0.1',
    '100.64.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '200::1',
    '::8.8.8.8',
    '3fff::1',
    '4000::1',
    '5f00::1',
    '9000::1',
    'fec0::1',
    'localhost',
    '',
  ])('do not include %s', (address) => {
    expect(publicAddresses([]).allows(address)).toBe(false);
  });

  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '3ffe:ffff::1', '::ffff:8.8.8.8'])(
    'include %s',
    (address) => {
      expect(publicAddresses([]).allows(address)).toBe(true);
    },
  );

  it('include what the operator allows, however it is written, and no more', () => {
    const targets = publicAddresses(['127.0.0.0/8', 'fd00::/8']);
    expect(['127.0.0.1', '::ffff:127.0.0.1', 'fd00::1'].map((address) => targets.allows(address))).toEqual([
      true,
      true,
      true,
    ]);
    expect(['10.0.0.1', '::1', 'fc00::1'].map((address) => targets.allows(address))).toEqual([false, false, false]);
  });

  it('are networks and nothing else in the configuration', () => {
    expect(() => publicAddresses(['localhost'])).toThrow('localhost is not a network');
    expect(() => publicAddresses(['10.0.0.0'])).toThrow('10.0.0.0 is not a network');
  });
});
