/** IPv4 networks (CIDR) that are local, private, reserved or unroutable (RFC 6890 and its IANA registry). */
export const SPECIAL_NETWORKS_IPV4: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16', // includes cloud metadata services
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
];

/** The IPv6 counterparts, plus networks that translate to IPv4 addresses. */
export const SPECIAL_NETWORKS_IPV6: readonly string[] = [
  '::/128',
  '::1/128',
  '64:ff9b::/96', // reaches any IPv4 address
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16', // as above
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];
