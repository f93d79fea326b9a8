import { BlockList, isIP } from 'node:net';

/** Text that is not a number never matches. */
export function compareNumbers(accepts: (order: number) => boolean): (actual: string, wanted: string) => boolean {
  return (actual, wanted) => {
    const difference = Number(actual) - Number(wanted);
    return actual.trim() !== '' && wanted.trim() !== '' && !Number.isNaN(difference) && accepts(difference);
  };
}

/** Times are ISO 8601, or seconds since 1970. */
export function compareTimes(accepts: (order: number) => boolean): (actual: string, wanted: string) => boolean {
  return (actual, wanted) => {
    const difference = toTimeMs(actual) - toTimeMs(wanted);
    return !Number.isNaN(difference) && accepts(difference);
  };
}

function toTimeMs(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text);
}

/** Whether an address is in a CIDR range, or equals a single address. */
export function inAddressRange(actual: string, range: string): boolean {
  const parsed = parseRange(range);
  const address = plainAddress(actual);
  const version = isIP(address);
  if (parsed === null || version === 0) return false;
  const list = new BlockList();
  list.addSubnet(parsed.address, parsed.bits, parsed.version === 4 ? 'ipv4' : 'ipv6');
  return list.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/** Null for invalid text. */
export function parseRange(text: string): { address: string; bits: number; version: 4 | 6 } | null {
  const [address = '', bitsText, ...rest] = text.split('/');
  const version = isIP(address);
  if ((version !== 4 && version !== 6) || rest.length > 0) return null;
  const most = version === 4 ? 32 : 128;
  if (bitsText === undefined) return { address, bits: most, version };
  const bits = /^\d{1,3}$/.test(bitsText) ? Number(bitsText) : Number.NaN;
  return bits <= most ? { address, bits, version } : null;
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
