import { QUESTION_MARK } from './egress/egress-rules.ts';
import { SPECIAL_NETWORKS_IPV4 } from '@svc/addresses';

const FORWARDING_TABLE = 'svc_forwarding';

/** How packets of sandboxes are matched: by a name with `*` for its end, or by the group of their interfaces. */
export type SandboxInterfaces = { readonly name: string } | { readonly group: number };

export interface FirewallOptions {
  /** Name of the table, which is replaced. */
  readonly table: string;
  readonly interfaces: SandboxInterfaces;
  /** IPv4 resolvers that sandboxes may query even in a blocked network. */
  readonly nameservers: readonly string[];
  /** The address range of sandboxes, as CIDR. */
  readonly range: string;
}

/**
 * One nftables table for all sandboxes of a platform, replaced in one transaction. It contains no sandbox by name, so it
 * does not change as sandboxes come and go: packets are matched by their interface.
 */
export function firewallRules(options: FirewallOptions): string {
  const { table, interfaces } = options;
  const from = 'name' in interfaces ? `iifname "${interfaces.name}"` : `iifgroup ${interfaces.group}`;
  const to = 'name' in interfaces ? `oifname "${interfaces.name}"` : `oifgroup ${interfaces.group}`;
  const elsewhere = to.replace(' ', ' != ');
  const resolvers = options.nameservers.filter((address) => /^[0-9]+(\.[0-9]+){3}$/.test(address));
  const allowResolvers =
    resolvers.length === 0
      ? []
      : ['tcp', 'udp'].map(
          (protocol) => `    ${from} ip daddr { ${resolvers.join(', ')} } ${protocol} dport 53 accept`,
        );
  return [
    `${withoutTable(table)}table inet ${table} {`,
    '  chain from_sandboxes {',
    '    type filter hook forward priority filter - 5; policy accept;',
    // The source must be the one address routed to the interface, to prevent spoofing.
    `    ${from} fib saddr . iif oif missing drop`,
    `    ${to} ct state established,related accept`,
    `    ${to} drop`,
    `    ${from} meta nfproto ipv6 drop`,
    ...allowResolvers,
    // The host and its neighbours, other sandboxes, metadata services.
    `    ${from} ip daddr { ${SPECIAL_NETWORKS_IPV4.join(', ')} } reject with icmp type admin-prohibited`,
    '  }',
    '  chain to_host {',
    '    type filter hook input priority filter - 5; policy accept;',
    // Only queries that the table of a sandbox with an allowlist redirects to our resolver.
    `    ${from} meta mark ${QUESTION_MARK} meta l4proto { tcp, udp } th dport != 53 accept`,
    `    ${from} drop`,
    '  }',
    '  chain from_host {',
    '    type filter hook output priority filter - 5; policy accept;',
    `    ${to} ct state new drop`,
    '  }',
    '  chain masquerade_out {',
    '    type nat hook postrouting priority srcnat; policy accept;',
    `    ip saddr ${options.range} ${elsewhere} masquerade`,
    '  }',
    '}',
    '',
  ].join('\n');
}

/** The table of a platform's sandboxes. */
export function firewallTable(group: number): string {
  return `svc_sandboxes_${group}`;
}

/** Removes a table that may not exist. */
export function withoutTable(table: string): string {
  return `table inet ${table}\ndelete table inet ${table}\n`;
}

/**
 * A table of its own, which outlives the process that enabled forwarding: a host that did not forward must not become a
 * router between its interfaces. Interfaces that other software adds later are not covered. Empty for no interface, when
 * the table of an earlier process stays.
 */
export function forwardingRules(guardedInterfaces: readonly string[]): string {
  const guarded = guardedInterfaces
    .filter((name) => /^[A-Za-z0-9_.-]{1,15}$/.test(name))
    .map((name) => `"${name}"`)
    .join(', ');
  if (guarded === '') return '';
  return [
    `${withoutTable(FORWARDING_TABLE)}table inet ${FORWARDING_TABLE} {`,
    '  chain between_interfaces {',
    '    type filter hook forward priority filter - 5; policy accept;',
    `    iifname { ${guarded} } oifname { ${guarded} } drop`,
    '  }',
    '}',
    '',
  ].join('\n');
}
