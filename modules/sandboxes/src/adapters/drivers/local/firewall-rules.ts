import { QUESTION_MARK } from './egress/egress-rules.ts';
import { SPECIAL_NETWORKS_IPV4 } from '@svc/addresses';

/** Prefix of all interfaces of the local driver's sandboxes; see interfaceStart in the launcher. */
const LOCAL_INTERFACES = 'svcsb*';
const LOCAL_TABLE = 'svc_sandboxes';

export interface FirewallOptions {
  /** IPv4 resolvers that sandboxes may query even in a blocked network. */
  readonly nameservers: readonly string[];
  /** The address range of sandboxes, as CIDR. */
  readonly range: string;
  /**
   * Interfaces of a host that did not forward before sandboxes were enabled: it must not become a router between them.
   * Interfaces that other software adds later are not covered.
   */
  readonly guardedInterfaces: readonly string[];
  /** Interface prefix and table of a driver other than the local one. */
  readonly interfaces?: string;
  readonly table?: string;
}

/**
 * One nftables table for all sandboxes of this host, replaced in one transaction. It contains no sandbox by name, so it
 * does not change as sandboxes come and go: packets are matched by their interface.
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
    // The source must be the one address routed to the interface, to prevent spoofing.
    `    iifname "${interfaces}" fib saddr . iif oif missing drop`,
    `    oifname "${interfaces}" ct state established,related accept`,
    `    oifname "${interfaces}" drop`,
    `    iifname "${interfaces}" meta nfproto ipv6 drop`,
    ...allowResolvers,
    // The host and its neighbours, other sandboxes, metadata services.
    `    iifname "${interfaces}" ip daddr { ${SPECIAL_NETWORKS_IPV4.join(', ')} } reject with icmp type admin-prohibited`,
    ...(guarded === '' ? [] : [`    iifname { ${guarded} } oifname { ${guarded} } drop`]),
    '  }',
    '  chain to_host {',
    '    type filter hook input priority filter - 5; policy accept;',
    // Only queries that the table of a sandbox with an allowlist redirects to our resolver.
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
