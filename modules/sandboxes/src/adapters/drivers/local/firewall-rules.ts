import { QUESTION_MARK } from './egress/egress-rules.ts';
import { SPECIAL_NETWORKS_IPV4 } from '@svc/addresses';

/** All interfaces of the local driver's sandboxes begin so; see interfaceStart in the launcher. */
const LOCAL_INTERFACES = 'svcsb*';
const LOCAL_TABLE = 'svc_sandboxes';

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
  /** Of another driver than the local one: what its interfaces begin with and its own table. */
  readonly interfaces?: string;
  readonly table?: string;
}

/**
 * One nftables table for all sandboxes of this host, replaced in one transaction. It names no single sandbox, so nothing
 * has to change when they come and go: each packet is judged by the interface that it comes from.
 */
export function firewallRules(options: FirewallOptions): string {
  const { interfaces = LOCAL_INTERFACES, table = LOCAL_TABLE } = options;
  const resolvers = options.nameservers.filter((address) => /^[0-9]+(\.[0-9]+){3}$/.test(address));
  const allowResolvers =
    resolvers.length === 0
      ? []
      : ['tcp', 'udp'].map(
          (protocol) => `    iifname "${interfaces}" ip daddr { ${resolvers.join(', ')} } ${protocol} dport 53 accept`,
        );
  const guarded = options.guardedInterfaces
    .filter((name) => /^[A-Za-z0-9_.-]{1,15}$/.test(name))
    .map((name) => `"${name}"`)
    .join(', ');
  return [
    `table inet ${table}`,
    `delete table inet ${table}`,
    `table inet ${table} {`,
    '  chain from_sandboxes {',
    '    type filter hook forward priority filter - 5; policy accept;',
    // The source must be the one address that is routed to the interface: nobody speaks as somebody else.
    `    iifname "${interfaces}" fib saddr . iif oif missing drop`,
    `    oifname "${interfaces}" ct state established,related accept`,
    `    oifname "${interfaces}" drop`,
    `    iifname "${interfaces}" meta nfproto ipv6 drop`,
    ...allowResolvers,
    // This host and its neighbours, other sandboxes, metadata services.
    `    iifname "${interfaces}" ip daddr { ${SPECIAL_NETWORKS_IPV4.join(', ')} } reject with icmp type admin-prohibited`,
    ...(guarded === '' ? [] : [`    iifname { ${guarded} } oifname { ${guarded} } drop`]),
    '  }',
    '  chain to_host {',
    '    type filter hook input priority filter - 5; policy accept;',
    // Only questions that the table of a sandbox with an allow-list leads to our resolver.
    `    iifname "${interfaces}" meta mark ${QUESTION_MARK} meta l4proto { tcp, udp } th dport != 53 accept`,
    `    iifname "${interfaces}" drop`,
    '  }',
    '  chain from_host {',
    '    type filter hook output priority filter - 5; policy accept;',
    `    oifname "${interfaces}" ct state new drop`,
    '  }',
    '  chain masquerade_out {',
    '    type nat hook postrouting priority srcnat; policy accept;',
    `    ip saddr ${options.range} oifname != "${interfaces}" masquerade`,
    '  }',
    '}',
    '',
  ].join('\n');
}
