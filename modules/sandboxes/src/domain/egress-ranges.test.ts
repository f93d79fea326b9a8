import { describe, expect, it } from 'vitest';
import { complementOf, egressRange, includesAddress } from './egress-ranges.ts';

describe('egress ranges', () => {
  it.each([
    ['1.1.1.1', '1.1.1.1/32'],
    ['1.1.1.1/32', '1.1.1.1/32'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['255.255.255.255/1', '128.0.0.0/1'],
    ['9.9.9.9/0', '0.0.0.0/0'],
  ])('normalize %s to %s', (given, expected) => {
    expect(egressRange(given)).toBe(expected);
  });

  it.each([
    '',
    '/',
    '1.1.1',
    '1.1.1.1/',
    '1.1.1.1/33',
    '1.1.1.1/08',
    '1.1.1.1/8/8',
    '01.1.1.1',
    '::1',
    'a.com',
    '0x7f.1',
  ])('refuse %j', (given) => {
    expect(egressRange(given)).toBeNull();
  });

  it.each([
    [[], ['0.0.0.0/0']],
    [['0.0.0.0/0'], []],
    [['128.0.0.0/1'], ['0.0.0.0/1']],
    [['0.0.0.0/2', '64.0.0.0/2'], ['128.0.0.0/1']],
    [['192.0.0.0/2', '0.0.0.0/1', '10.0.0.0/8'], ['128.0.0.0/2']],
  ])('have a complement: %j, %j', (ranges, expected) => {
    expect(complementOf(ranges)).toEqual(expected);
  });

  it('leave out one address and keep its neighbours', () => {
    const others = complementOf(['8.8.8.8/32']);
    expect(others).toHaveLength(32);
    expect(includesAddress(others, '8.8.8.8')).toBe(false);
    for (const address of ['8.8.8.7', '8.8.8.9', '0.0.0.0', '255.255.255.255']) {
      expect(includesAddress(others, address), address).toBe(true);
    }
    expect(complementOf(others)).toEqual(['8.8.8.8/32']);
  });
});
