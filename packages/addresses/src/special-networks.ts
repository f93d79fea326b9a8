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

/**
 * The IPv6 counterparts: everything outside 2000::/3, the only block that IANA assigns global addresses from (RFC 4291,
 * section 2.4), and what is special within it.
 */
export const SPECIAL_NETWORKS_IPV6: readonly string[] = [
  '::/3', // includes 64:ff9b::/96, which reaches any IPv4 address
  '2001::/23',
  '2001:db8::/32',
  '2002::/16', // reaches any IPv4 address
  '3fff::/20',
  '4000::/2',
  '8000::/1',
];
