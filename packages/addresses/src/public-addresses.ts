import { BlockList, isIP, SocketAddress } from 'node:net';
import { SPECIAL_NETWORKS_IPV4, SPECIAL_NETWORKS_IPV6 } from './special-networks.ts';

/** A set of allowed IP addresses. */
export interface PublicAddresses {
  /** Whether the IP address is allowed; false for anything else. */
  allows(address: string): boolean;
}

/** Allows public addresses and those in the operator's networks (CIDR). Throws on an invalid network. */
export function publicAddresses(allowedNetworks: readonly string[]): PublicAddresses {
  const refused = createNetworkList([...SPECIAL_NETWORKS_IPV4, ...SPECIAL_NETWORKS_IPV6]);
  const allowed = createNetworkList(allowedNetworks);
  return {
    allows: (address) => {
      const plain = unmapped(address);
      return isIP(plain) !== 0 && (allowed.has(plain) || !refused.has(plain));
    },
  };
}

interface NetworkList {
  has(address: string): boolean;
}

/** One list per family: a `BlockList` maps IPv4 addresses into its IPv6 networks, so that `::/3` would hold them all. */
function createNetworkList(networks: readonly string[]): NetworkList {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const network of networks) {
    const [address = '', bits = ''] = network.split('/');
    if (isIP(address) === 0 || !/^\d{1,3}$/.test(bits)) {
      throw new Error(`${network} is not a network such as 10.0.0.0/8`);
    }
    lists[familyOf(address)].addSubnet(address, Number(bits), familyOf(address));
  }
  return { has: (address) => lists[familyOf(address)].check(address, familyOf(address)) };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** Converts an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5) to IPv4. */
function unmapped(address: string): string {
  if (isIP(address) !== 6) return address;
  const normal = new SocketAddress({ address, family: 'ipv6' }).address.toLowerCase();
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(normal);
  if (mapped?.[1] !== undefined) return mapped[1];
  const groups = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(normal);
  if (groups === null) return normal;
  const [high = 0, low = 0] = [groups[1], groups[2]].map((group) => Number.parseInt(group ?? '', 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
