import { isIPv4, isIPv6 } from 'node:net';
import { Shares, type ShareOutcome } from '@svc/runtime';

/**
 * Returns the rate-limiting key of a client address. An IPv6 client controls a whole /64 (RFC 6177) and could use
 * another address for each request, so only the first 64 bits count. An IPv4-mapped IPv6 address counts as IPv4.
 */
export function addressKey(address: string): string {
  const { v4, v6 } = parse(address);
  return v6 === null ? v4 : `${v6.slice(0, 4).join(':')}::/64`;
}

/**
 * Returns the network around an address: its /24 for IPv4, its /48 for IPv6. Whoever has many addresses mostly has them
 * in one network, so that they can share a limit.
 */
export function networkKey(address: string): string {
  const { v4, v6 } = parse(address);
  if (v6 !== null) return `${v6.slice(0, 3).join(':')}::/48`;
  return isIPv4(v4) ? `${v4.slice(0, v4.lastIndexOf('.'))}.0/24` : v4;
}

/** The key of an address with its network, for shares and turns of both. */
export function groupedAddressKey(address: string): string {
  return `${networkKey(address)} ${addressKey(address)}`;
}

/** The network in the result of `groupedAddressKey`. */
export function networkOfKey(key: string): string {
  return key.slice(0, key.indexOf(' '));
}

/** The groups of an IPv6 address, normalized; otherwise the address, which is IPv4 in most cases. */
function parse(address: string): { readonly v4: string; readonly v6: readonly string[] | null } {
  const plain = address.split('%', 1)[0] ?? '';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined) return { v4: mapped, v6: null };
  if (!isIPv6(plain)) return { v4: plain, v6: null };
  const [head = '', tail] = plain.split('::', 2);
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length) }, () => '0');
  const groups = [...left, ...zeros, ...right];
  return { v4: '', v6: groups.map((group) => Number.parseInt(group, 16).toString(16)) };
}

/** Bounds of the shares of clients without credentials. */
export interface AddressSharesOptions {
  /** Maximum held at a time, by all clients together. */
  readonly capacity: number;
  /** Maximum per address, however much is free. Defaults to its share. */
  readonly perAddress?: number;
}

/** Shares of clients without credentials: each address has one, and so has the network around it. */
export class AddressShares {
  readonly #shares: Shares;

  constructor({ capacity, perAddress = capacity }: AddressSharesOptions) {
    this.#shares = new Shares({
      capacity,
      capacityPerKey: perAddress,
      groupOf: networkOfKey,
      holders: { key: 'address', group: 'network' },
    });
  }

  /** Takes one for a client address. */
  take(address: string): ShareOutcome {
    return this.#shares.take(groupedAddressKey(address));
  }

  /** Takes one for a proxy that stands for many clients, as long as any is free. */
  takeUnshared(): ShareOutcome {
    return this.#shares.takeUnshared();
  }
}
