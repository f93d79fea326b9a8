import { BlockList, isIP, SocketAddress } from 'node:net';

/** Networks that only this machine and its neighbours reach (IANA special-purpose registries), and those that lead to them. */
const NOT_PUBLIC: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16', // also the metadata services of clouds
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  '::1/128',
  '64:ff9b::/96', // reaches any IPv4 address
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16', // likewise
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

export interface TargetAddresses {
  /** Whether events may be sent to this IP address. */
  allows(address: string): boolean;
}

/** Public addresses, and those in the networks (CIDR) that the operator allows. Throws for what is no network. */
export function targetAddresses(allowedNetworks: readonly string[]): TargetAddresses {
  const refused = blockList(NOT_PUBLIC);
  const allowed = blockList(allowedNetworks);
  return {
    allows: (address) => {
      const plain = unmapped(address);
      const family = isIP(plain);
      if (family === 0) return false;
      const kind = family === 4 ? 'ipv4' : 'ipv6';
      return allowed.check(plain, kind) || !refused.check(plain, kind);
    },
  };
}

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits = ''] = network.split('/');
    const family = isIP(address);
    if (family === 0 || !/^\d{1,3}$/.test(bits)) throw new Error(`${network} is no network such as 10.0.0.0/8`);
    list.addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

/** An IPv4 address written as IPv6 one (RFC 4291, section 2.5.5) is that IPv4 address. */
function unmapped(address: string): string {
  if (isIP(address) !== 6) return address;
  const normal = new SocketAddress({ address, family: 'ipv6' }).address.toLowerCase();
  const mapped = /^::(?:ffff:)?(\d+\.\d+\.\d+\.\d+)$/.exec(normal);
  if (mapped?.[1] !== undefined) return mapped[1];
  const groups = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(normal);
  if (groups === null) return normal;
  const [high = 0, low = 0] = [groups[1], groups[2]].map((group) => Number.parseInt(group ?? '', 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
