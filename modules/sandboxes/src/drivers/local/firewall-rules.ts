import { SPECIAL_NETWORKS_IPV4 } from '@svc/addresses';

/** All interfaces of sandboxes on the host begin so; see interfaceStart in the launcher. */
const INTERFACES = 'svcsb*';

export interface FirewallOptions {
  /** IPv4 resolvers that sandboxes may ask although they lie in a refused network. */
  readonly nameservers: readonly string[];
  /** The range that sandboxes have their addresses from, as CIDR. */
  readonly range: string;
  /**
   * Interfaces of a host that forwarded nothing before sandboxes came: it must not become a router between them. Those
   * that other software makes later are its own business.
   */
  readonly guardedInterfaces: readonly string[];
}

/**
 * One nftables table for all sandboxes of this host, replaced in one transaction. It names no single sandbox, so nothing
 * has to change when they come and go: each packet is judged by the interface that it comes from.
 */
export function firewallRules(options: FirewallOptions): string {
  const resolvers = options.nameservers.filter((address) => /^[0-9]+(\.[0-9]+){3}$/.test(address));
  const allowResolvers =
    resolvers.length === 0
      ? []
      : ['tcp', 'udp'].map(
          (protocol) => `    iifname "${INTERFACES}" ip daddr { ${resolvers.join(', ')} } ${protocol} dport 53 accept`,
        );
  const guarded = options.guardedInterfaces
    .filter((name) => /^[A-Za-z0-9_.-]{1,15}$/.test(name))
    .map((name) => `"${name}"`)
    .join(', ');
  return [
    'table inet svc_sandboxes',
    'delete table inet svc_sandboxes',
    'table inet svc_sandboxes {',
    '  chain from_sandboxes {',
    '    type filter hook forward priority filter - 5; policy accept;',
    // The source must be the one address that is routed to the interface: nobody speaks as somebody else.
    `    iifname "${INTERFACES}" fib saddr . iif oif missing drop`,
    `    oifname "${INTERFACES}" ct state established,related accept`,
    `    oifname "${INTERFACES}" drop`,
    `    iifname "${INTERFACES}" meta nfproto ipv6 drop`,
    ...allowResolvers,
    // This host and its neighbours, other sandboxes, metadata services.
    `    iifname "${INTERFACES}" ip daddr { ${SPECIAL_NETWORKS_IPV4.join(', ')} } reject with icmp type admin-prohibited`,
    ...(guarded === '' ? [] : [`    iifname { ${guarded} } oifname { ${guarded} } drop`]),
    '  }',
    '  chain to_host {',
    '    type filter hook input priority filter - 5; policy accept;',
    `    iifname "${INTERFACES}" drop`,
    '  }',
    '  chain from_host {',
    '    type filter hook output priority filter - 5; policy accept;',
    `    oifname "${INTERFACES}" ct state new drop`,
    '  }',
    '  chain masquerade_out {',
    '    type nat hook postrouting priority srcnat; policy accept;',
    `    ip saddr ${options.range} oifname != "${INTERFACES}" masquerade`,
    '  }',
    '}',
    '',
  ].join('\n');
}
