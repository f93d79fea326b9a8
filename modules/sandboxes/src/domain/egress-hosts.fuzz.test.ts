import { BlockList, isIPv4 } from 'node:net';
import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { allowsHost, ANY_NAME, egressHost, egressTarget } from './egress-hosts.ts';
import { complementOf, egressRange, includesAddress } from './egress-ranges.ts';

/** What the host of a URL is read as; null if it is none. */
function hostOfUrl(host: string): string | null {
  try {
    return new URL(`http://${host}/`).hostname;
  } catch {
    return null;
  }
}

describeFuzz({
  name: 'hosts that sandboxes may reach',
  corpus: new URL('./corpus/egress-hosts/', import.meta.url),
  seeds: [
    'api.example.com\napi.example.com',
    '*.Example.COM.\nwww.example.com',
    'bücher.example\nxn--bcher-kva.example',
    '127.0.0.1\n127.1',
    '0x7f.1\na',
    '*\n*',
    'a_b.example\n_a.b',
    'ex\u00adample.com\nexample.com',
    '10.0.0.0/8\n10.1.2.3',
  ],
  dictionary: [
    '*.',
    '.',
    '..',
    'xn--',
    '。',
    '．',
    '%2e',
    '@',
    ':',
    '/',
    '#',
    '[::1]',
    'ſ',
    'K',
    'ß',
    '\u200d',
    '-',
    '0x7f',
    '\0',
  ],
  maxBytes: 400,
  run: (input) => {
    const [given = '', name = ''] = input.toString('utf8').split('\n');
    const host = egressHost(given);
    if (host !== null) {
      expect(egressHost(host), 'normal').toBe(host);
      expect(host.length).toBeLessThanOrEqual(255);
      const bare = host.replace(/^\*\./, '');
      expect(bare).toMatch(/^[a-z0-9_.-]+$/);
      // A client that reads the entry as the host of a URL means the same host.
      expect(hostOfUrl(given.replace(/^\*\./, ''))?.replace(/\.$/, '')).toBe(bare);
      expect(isIPv4(bare)).toBe(false);
      expect(allowsHost([host], bare)).toBe(host === bare);
      expect(allowsHost([host], `x.${bare}`)).toBe(host !== bare);
      expect(allowsHost([host], `x${bare}`)).toBe(false);
      expect(allowsHost([host], `${bare}.x`)).toBe(false);
      const isBelow = host !== bare && name.endsWith(`.${bare}`);
      expect(allowsHost([host], name)).toBe(name === host && host === bare ? true : isBelow);
    }
    const target = egressTarget(given);
    if (target === null) return;
    expect(egressTarget(target)).toBe(target);
    // These reach the firewall's rules as text.
    expect(target === ANY_NAME || /^[a-z0-9_.*/-]+$/.test(target)).toBe(true);
  },
});

const addresses = ['0.0.0.0', '10.0.0.0', '10.255.255.255', '127.0.0.1', '128.0.0.0', '192.0.2.7', '255.255.255.255'];

describeFuzz({
  name: 'address ranges that sandboxes may reach',
  corpus: new URL('./corpus/egress-ranges/', import.meta.url),
  seeds: [
    '10.0.0.0/8',
    '0.0.0.0/0',
    '192.0.2.7',
    '10.0.0.1/7\n172.16.0.0/12\n192.168.0.0/16\n127.0.0.0/8',
    '0.0.0.0/1\n128.0.0.0/1',
    '255.255.255.255/32\n0.0.0.0/32',
    '010.0.0.1\n1.2.3.4/33\n1.2.3.4/08\n::1/8',
  ],
  dictionary: ['/', '/0', '/31', '/32', '.', '0', '255', '256', '00', ' ', '\n', '::ffff:1.2.3.4', '10.', '-1'],
  maxBytes: 600,
  run: (input) => {
    const ranges = input
      .toString('utf8')
      .split('\n')
      .flatMap((each) => egressRange(each) ?? []);
    const reference = new BlockList();
    for (const range of ranges) {
      expect(egressRange(range)).toBe(range);
      const [address = '', bits = ''] = range.split('/');
      expect(isIPv4(address)).toBe(true);
      reference.addSubnet(address, Number(bits), 'ipv4');
    }
    const rest = complementOf(ranges);
    // Each range can split at most 32 others.
    expect(rest.length).toBeLessThanOrEqual(32 * ranges.length + 1);
    const ends = [...ranges, ...rest].map((range) => range.split('/')[0] ?? '');
    for (const address of [...addresses, ...ends]) {
      const isIn = reference.check(address, 'ipv4');
      expect(includesAddress(ranges, address), address).toBe(isIn);
      expect(includesAddress(rest, address), address).toBe(!isIn);
    }
    expect(complementOf(complementOf(rest))).toEqual(rest);
  },
});
