import { redirectQuestions, QUESTION_MARK } from '../egress/egress-rules.ts';

const TABLE_PREFIX = 'svc_secrets_';

export interface Steering {
  readonly interfaceName: string;
  readonly address: string;
  /** The address that names with a rule resolve to. */
  readonly gateway: string;
  readonly securePort: number;
  readonly plainPort: number;
  /** Where the sandbox's queries go; null if another table redirects them already. */
  readonly questions: { readonly resolvers: readonly string[]; readonly port: number } | null;
}

/**
 * The firewall table of a sandbox with rules for secrets: leads its connections to the gateway's address to the
 * listeners. It opens nothing else and loads in one transaction.
 */
export function steeringRules({ interfaceName, address, gateway, securePort, plainPort, questions }: Steering): string {
  const table = `${TABLE_PREFIX}${interfaceName}`;
  const from = `iifname "${interfaceName}" ip saddr ${address} ip daddr ${gateway} tcp dport`;
  const { marks, redirects } = questions === null ? NONE : redirectQuestions({ interfaceName, address, ...questions });
  return [
    ...withoutTable(table),
    `table inet ${table} {`,
    '  chain mark_connections {',
    '    type filter hook prerouting priority mangle; policy accept;',
    ...[`${from} { 80, 443 } meta mark set ${QUESTION_MARK}`, ...marks].map((rule) => `    ${rule}`),
    '  }',
    '  chain redirect_connections {',
    '    type nat hook prerouting priority dstnat; policy accept;',
    ...[`${from} 443 redirect to :${securePort}`, `${from} 80 redirect to :${plainPort}`, ...redirects].map(
      (rule) => `    ${rule}`,
    ),
    '  }',
    '}',
    '',
  ].join('\n');
}

const NONE = { marks: [], redirects: [] };

/** Removes the table of a sandbox, if there is one. */
export function noSteeringRules(interfaceName: string): string {
  return [...withoutTable(`${TABLE_PREFIX}${interfaceName}`), ''].join('\n');
}

/** Names of the tables in the output of `nft list tables` for our interfaces. */
export function steeredInterfaces(tables: string): string[] {
  return [...tables.matchAll(/^table inet svc_secrets_(svcsb\d+)$/gm)].map(([, name = '']) => name);
}

/** Deleting a table that does not exist is an error, so it is declared first. */
function withoutTable(table: string): string[] {
  return [`table inet ${table}`, `delete table inet ${table}`];
}
