import { BlockList, isIPv4 } from 'node:net';

/** An IPv4 range by its first address, as a number, and the length of its prefix. */
interface Range {
  readonly start: number;
  readonly bits: number;
}

const ADDRESS_BITS = 32;

/** Normalizes an IPv4 address or range to `a.b.c.d/n`, whose other bits are 0; null for anything else. */
export function egressRange(given: string): string | null {
  const [address = '', prefix, ...rest] = given.split('/');
  if (!isIPv4(address) || rest.length > 0) return null;
  if (prefix !== undefined && !/^(?:[12]?\d|3[0-2])$/.test(prefix)) return null;
  const bits = prefix === undefined ? ADDRESS_BITS : Number(prefix);
  return render({ start: firstOf(address, bits), bits });
}

/** The ranges among the entries of an allowlist. */
export function rangesOf(allowed: readonly string[]): string[] {
  return allowed.filter((each) => each.includes('/'));
}

export function includesAddress(ranges: readonly string[], address: string): boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const { start, bits } = parse(range);
    list.addSubnet(addressOf(start), bits, 'ipv4');
  }
  return list.check(address, 'ipv4');
}

/** Every IPv4 address that is in none of the ranges, as the fewest ranges. */
export function complementOf(ranges: readonly string[]): string[] {
  const denied = ranges.map(parse);
  const found: string[] = [];
  const visit = (range: Range): void => {
    if (denied.some((each) => covers(each, range))) return;
    if (!denied.some((each) => covers(range, each))) {
      found.push(render(range));
      return;
    }
    const bits = range.bits + 1;
    visit({ start: range.start, bits });
    visit({ start: range.start + sizeOf(bits), bits });
  };
  visit({ start: 0, bits: 0 });
  return found;
}

function covers(outer: Range, inner: Range): boolean {
  return inner.bits >= outer.bits && inner.start >= outer.start && inner.start < outer.start + sizeOf(outer.bits);
}

function parse(range: string): Range {
  const [address = '', prefix = ''] = range.split('/');
  return { start: firstOf(address, Number(prefix)), bits: Number(prefix) };
}

function firstOf(address: string, bits: number): number {
  const value = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return value - (value % sizeOf(bits));
}

function sizeOf(bits: number): number {
  return 2 ** (ADDRESS_BITS - bits);
}

function render({ start, bits }: Range): string {
  return `${addressOf(start)}/${bits}`;
}

function addressOf(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}
