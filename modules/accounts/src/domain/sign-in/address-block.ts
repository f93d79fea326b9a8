import { isIPv6 } from 'node:net';

/** Treats addresses that one caller can choose freely as one: a whole /64 for IPv6, a single address for IPv4. */
export function addressBlock(address: string): string {
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const bare = address.split('%')[0] ?? address;
  return isIPv6(bare) ? `${expand(bare).slice(0, 4).join(':')}::/64` : address;
}

function expand(address: string): string[] {
  const [head = '', tail] = address.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  if (tail === undefined) return before.map(unpadded);
  const after = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after].map(unpadded);
}

function unpadded(group: string): string {
  return group.replace(/^0+(?=.)/, '');
}
