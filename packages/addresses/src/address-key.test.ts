import { describe, expect, it } from 'vitest';
import { addressKey, networkKey } from './address-key.ts';

describe('the key of an address', () => {
  it('is the address for IPv4, also inside IPv6', () => {
    expect(addressKey('192.0.2.7')).toBe('192.0.2.7');
    expect(addressKey('::ffff:192.0.2.7')).toBe('192.0.2.7');
  });

  it('is the network of the client for IPv6', () => {
    expect(addressKey('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
    expect(addressKey('2001:0DB8:1:2::9')).toBe('2001:db8:1:2::/64');
    expect(addressKey('2001:db8::9')).toBe('2001:db8:0:0::/64');
    expect(addressKey('fe80::1%eth0')).toBe('fe80:0:0:0::/64');
    expect(addressKey('::1')).toBe('0:0:0:0::/64');
    expect(addressKey('2001:0DB8:0000:0001:ffff:ffff:ffff:ffff')).toBe('2001:db8:0:1::/64');
  });

  it('is the text itself if that is no address', () => {
    expect(addressKey('not an address')).toBe('not an address');
  });

  it('has a wider network around it', () => {
    expect(networkKey('192.0.2.7')).toBe('192.0.2.0/24');
    expect(networkKey('::ffff:192.0.2.7')).toBe('192.0.2.0/24');
    expect(networkKey('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1::/48');
    expect(networkKey('2001:0DB8::9')).toBe('2001:db8:0::/48');
    expect(networkKey('')).toBe('');
  });
});
